export const RESOURCE_PATH = "/datasensor"; // the path of the only resource

/** The settings when no flag is given. */
export const DEFAULTS = {
  hostname: "0.0.0.0", // the address to listen on
  port: 5000, // the TCP port to listen on; 0 picks a free one
  message: "Sensor data", // the placeholder text to serve
  stdin: false, // whether to serve the last line of standard input instead
  json: false, // whether each of those lines is a JSON text
  maxAgeSeconds: Infinity, // how old the last line may be
  cors: false, // whether web pages of other origins may read the responses
  journal: false, // whether log messages have a priority for systemd
  debug: true, // whether to log stack traces
};

/** The settings of the service. */
export type Config = Readonly<typeof DEFAULTS>;
