/** What is served: a fixed text as JSON or, with a time, what a sensor has measured. */
export type Reading = { readonly json: string } | Measurement;

/** What a sensor has measured, or all of them. */
export interface Measurement {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it arrived, or the latest of its parts, by the system clock, in ms since 1970. */
  readonly time: number;
  /** With `--key`, what each sensor has measured, by its name, the latest first. */
  readonly sensors?: ReadonlyMap<string, Measurement>;
}

/**
 * Returns the reading (the same object until it changes), or why there is none, as a
 * sentence for clients.
 */
export type Sensor = () => Reading | { readonly unavailable: string };
