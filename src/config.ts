// The settings and their defaults.

/** What the service is told at its start. */
export interface Config {
  /** The address to listen on. @default {"0.0.0.0"} */
  hostname: string;
  /** The TCP port to listen on; 0 takes a free one. @default {5000} */
  port: number;
  /** The text that stands for the sensor's data. @default {"Sensor data"} */
  message: string;
  /** Whether standard input brings the sensor's data. @default {false} */
  stdin: boolean;
  /** How old a reading may be, in seconds. @default {Infinity} */
  maxAge: number;
  /** Whether pages of other origins may read the answers. @default {false} */
  cors: boolean;
  /** Whether the console shows the stacks of errors. @default {true} */
  debug: boolean;
}

/** The settings of a command line without flags. */
export const DEFAULTS: Readonly<Config> = {
  hostname: "0.0.0.0",
  port: 5000,
  message: "Sensor data",
  stdin: false,
  maxAge: Infinity,
  cors: false,
  debug: true,
};
