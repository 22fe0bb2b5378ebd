/**
 * The limit of a response that lists what is known: while a client does not read it, the kernel
 * keeps all of it.
 */
export const MAX_RESPONSE_CHARACTERS = 512 * 1024;

/** What a sensor has measured, or all of them. */
export interface Measurement {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it, or its latest part, arrived, by the system clock, in ms since 1970. */
  readonly time: number;
}

/** What is served: a fixed text as JSON, or what a sensor has measured. */
export type Reading = Pick<Measurement, "json"> | Measurement;

/** The name of an only sensor. With `--key`, no name is empty. */
export const ONLY_SENSOR = "";

/** What is known of the sensors at a time. */
export interface Snapshot {
  /** All current measurements as one, if there are any. */
  readonly all: Measurement | undefined;
  /** The current measurement of each sensor, by its name, the latest first. */
  readonly current: ReadonlyMap<string, Measurement>;
  /** When each silent sensor sent its last reading, by its name, the latest first. */
  readonly silent: ReadonlyMap<string, number>;
  /** How many sensors have been forgotten for lack of room, and the last of them. */
  readonly evicted: { readonly count: number; readonly name: string };
}

/**
 * Yields the known sensors, those that have been silent longest last: the name, which an only
 * one lacks, when its last reading arrived and, unless it is silent, that reading as JSON.
 */
export function* listSensors(
  { current, silent }: Snapshot,
): Generator<{ name?: string; time: number; json?: string }> {
  const nameOf = (name: string) => name === ONLY_SENSOR ? undefined : name;
  for (const [name, { json, time }] of current) {
    yield { name: nameOf(name), time, json };
  }
  for (const [name, time] of silent) yield { name: nameOf(name), time };
}
