/** The settings of the service. */
export interface Config {
  /** The address to listen on. */
  readonly hostname: string;
  /** The TCP port to listen on; 0 picks a free one. */
  readonly port: number;
  /** What is served. */
  readonly source: TextSource | InputSource;
  /** Whether web pages of other origins may read the responses. */
  readonly cors: boolean;
  /** Whether systemd runs the service, and its journal reads the log. */
  readonly journal: boolean;
  /** Whether to log stack traces. */
  readonly debug: boolean;
}

/** A fixed text. */
export interface TextSource {
  readonly kind: "text";
  readonly text: string;
}

/** The last line of standard input, or with keys that of each sensor. */
export interface InputSource {
  readonly kind: "input";
  /** What a line is: any text, or a JSON text. The values of the keys name its sensor. */
  readonly line: { readonly kind: "text" } | {
    readonly kind: "json";
    readonly keys?: readonly string[];
  };
  /** How old the last line may be, in seconds; Infinity for no limit. */
  readonly maxAgeSeconds: number;
}

/** The settings without flags. */
export const DEFAULTS = {
  hostname: "0.0.0.0",
  port: 5000,
  message: "Sensor data",
  maxAgeSeconds: 300, // Prometheus, too, drops what is older
  cors: false,
  debug: true,
};
