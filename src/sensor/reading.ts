/** What is served. */
export type Reading = FixedText | Measurement;

/** A text that does not change. */
export interface FixedText {
  /** The JSON text to serve. */
  readonly json: string;
}

/** What a sensor has measured, or all of them. */
export interface Measurement {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it arrived, or the latest of its parts, by the system clock, in ms since 1970. */
  readonly time: number;
  /** With `--key`, what each sensor has measured, by its name. The latest is the first. */
  readonly sensors?: ReadonlyMap<string, Measurement>;
}

/** The absence of a reading. */
export interface Unavailable {
  /** Why there is no reading, as a sentence for clients. */
  readonly unavailable: string;
}

/** Returns the reading (the same object until it changes), or why there is none. */
export type Sensor = () => Reading | Unavailable;
