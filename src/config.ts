export const RESOURCE_PATH = "/datasensor"; // the path of the only resource

/** The settings of the service. */
export interface Config {
  readonly hostname: string; // the address to listen on
  readonly port: number; // the TCP port to listen on; 0 picks a free one
  readonly message?: string; // the text to serve, if not the placeholder
  readonly stdin: boolean; // whether to serve the last line of standard input instead
  readonly json: boolean; // whether each of those lines is a JSON text
  readonly maxAgeSeconds?: number; // how old the last line may be, if there is a limit
  readonly cors: boolean; // whether web pages of other origins may read the responses
  readonly journal: boolean; // whether systemd runs it, and its journal reads the log
  readonly debug: boolean; // whether to log stack traces
}

/** The settings when no flag is given. */
export const DEFAULTS: Config = {
  hostname: "0.0.0.0",
  port: 5000,
  stdin: false,
  json: false,
  cors: false,
  journal: false,
  debug: true,
};

/** The text to serve when there is neither a sensor nor a message. */
export const PLACEHOLDER = "Sensor data";
