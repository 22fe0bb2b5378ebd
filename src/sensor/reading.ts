/** A text that does not change, or what a sensor has measured. */
export type Reading = FixedText | Measurement;

/** A fixed text. */
export interface FixedText {
  /** The JSON text to serve. */
  readonly json: string;
  readonly time?: undefined;
}

/** The reading of a sensor. */
export interface Measurement {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it arrived, by the system clock, in ms since 1970. */
  readonly time: number;
}

/** The absence of a reading. */
export interface Unavailable {
  /** Why there is no reading, as a sentence for clients. */
  readonly unavailable: string;
}

/** Returns the reading (the same object until it changes), or why there is none. */
export type Sensor = () => Reading | Unavailable;
