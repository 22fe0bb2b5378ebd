/** What a sensor has measured, or all of them. */
export interface Measurement {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it, or its latest part, arrived, by the system clock, in ms since 1970. */
  readonly time: number;
}

/** What is served: a fixed text as JSON, or what a sensor has measured. */
export type Reading = Pick<Measurement, "json"> | Measurement;

/** The name of the only sensor. With `--key`, no name is empty. */
export const ONLY_SENSOR = "";

/** What is known of the sensors at a time. */
export interface Snapshot {
  /** All current measurements as one, if there are any. */
  readonly all: Measurement | undefined;
  /** The current measurement of each sensor, by its name, the latest first. */
  readonly current: ReadonlyMap<string, Measurement>;
  /** When each silent sensor sent its last reading, by its name, the latest first. */
  readonly silent: ReadonlyMap<string, number>;
  /** When an only sensor, which has no name, sent its last reading, if it is silent. */
  readonly onlySilent?: number;
  /** How many sensors have been forgotten for lack of room, and the last of them. */
  readonly evicted: { readonly count: number; readonly name: string };
}
