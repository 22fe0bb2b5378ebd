import project from "../deno.json" with { type: "json" };

/** The version of the program. */
export const PROGRAM_VERSION = project.version;

/** The path of the only resource. */
export const RESOURCE_PATH = "/datasensor";

/** The settings of the service. */
export interface Config {
  /** The address to listen on. */
  readonly hostname: string;
  /** The TCP port to listen on; 0 picks a free one. */
  readonly port: number;
  /** The text to serve, or undefined for the placeholder or with --stdin. */
  readonly message?: string;
  /** Whether to serve the last line of standard input, or of each sensor, not a text. */
  readonly stdin: boolean;
  /** Whether each of those lines is a JSON text. */
  readonly json: boolean;
  /** The keys whose values name the sensor of a line. Undefined for a single sensor. */
  readonly keys?: readonly string[];
  /** How old the last line may be; Infinity for no limit, undefined for the default. */
  readonly maxAgeSeconds?: number;
  /** Whether web pages of other origins may read the responses. */
  readonly cors: boolean;
  /** Whether systemd runs the service, and its journal reads the log. */
  readonly journal: boolean;
  /** Whether to log stack traces. */
  readonly debug: boolean;
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

/** How old the last line may be unless a flag says otherwise: Prometheus, too, drops what is older. */
export const DEFAULT_MAX_AGE_SECONDS = 300;

/** The text to serve when there is neither a sensor nor a message. */
export const PLACEHOLDER = "Sensor data";
