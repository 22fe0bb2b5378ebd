// The settings and their defaults.

/** The path of the one resource. */
export const PATH = "/datasensor";

/** The settings without flags, as the specification wants them. */
export const DEFAULTS = {
  /** The address to listen on. */
  hostname: "0.0.0.0",
  /** The TCP port to listen on; 0 takes a free one. */
  port: 5000,
  /** The text that stands for the sensor's data. */
  message: "Sensor data",
  /** Whether the sensor's data come from standard input instead. */
  stdin: false,
  /** How old a reading may be, in seconds. */
  maxAge: Infinity,
  /** Whether pages of other origins may read the answers. */
  cors: false,
  /** Whether the console shows the stacks of errors. */
  debug: true,
};

/** What the service is told at its start. */
export type Config = Readonly<typeof DEFAULTS>;
