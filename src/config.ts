/** The settings of the service, as its flags set them. */
export interface Config {
  /** The address to listen on. */
  readonly hostname: string;
  /** The TCP port to listen on; 0 picks a free one. */
  readonly port: number;
  /** The text that is served, unless lines of standard input are. */
  readonly message: string;
  /** Whether the last line of standard input is served. */
  readonly stdin: boolean;
  /** Whether each line is a JSON text, instead of any text. */
  readonly json: boolean;
  /** The keys whose values in a line name its sensor. Without keys, sensors have no names. */
  readonly keys?: readonly string[];
  /** How old the last reading may be, in seconds; Infinity for no limit. */
  readonly maxAgeSeconds: number;
  /** Whether web pages of other origins may read the responses. */
  readonly cors: boolean;
  /** Whether systemd runs the service, and its journal reads the log. */
  readonly journal: boolean;
  /** Whether to log stack traces. */
  readonly debug: boolean;
}

/** The settings without flags. */
export const DEFAULTS: Config = {
  hostname: "0.0.0.0",
  port: 5000,
  message: "Sensor data",
  stdin: false,
  json: false,
  maxAgeSeconds: 300, // Prometheus, too, drops what is older than five minutes
  cors: false,
  journal: false,
  debug: true,
};
