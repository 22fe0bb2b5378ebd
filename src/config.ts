// The settings and their defaults.

/** The path of the only resource. */
export const PATH = "/datasensor";

/** The settings when no flag is given, as the specification requires. */
export const DEFAULTS = {
  /** The address to listen on. */
  hostname: "0.0.0.0",
  /** The TCP port to listen on; 0 picks a free one. */
  port: 5000,
  /** The text to serve, which stands for sensor data. */
  message: "Sensor data",
  /** Whether to serve the last line of standard input instead. */
  stdin: false,
  /** Whether each line of standard input is a JSON text. */
  json: false,
  /** How old a reading may be, in seconds. */
  maxAge: Infinity,
  /** Whether web pages of other origins may read the responses. */
  cors: false,
  /** Whether log lines carry a priority for systemd's journal. */
  journal: false,
  /** Whether to log stack traces. */
  debug: true,
};

/** The settings of the service. */
export type Config = Readonly<typeof DEFAULTS>;
