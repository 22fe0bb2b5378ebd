/**
 * The limit of a response that lists what is known: while a client does not read it, the kernel
 * keeps all of it.
 */
export const MAX_RESPONSE_CHARACTERS = 512 * 1024;

/** What a sensor has measured, or all of them. */
export interface Measurement {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it, or its latest part, arrived, by the wall clock, in ms since 1970. */
  readonly time: number;
}

/** What is served: a fixed text as JSON, or what a sensor has measured. */
export type Reading = Pick<Measurement, "json"> | Measurement;

/** What is known of the sensors at a time. */
export interface Snapshot {
  /** Whether sensors have names, as with `--key`. If not, there is one, whose name is empty. */
  readonly haveNames: boolean;
  /** All current measurements as one, if there are any. */
  readonly all: Measurement | undefined;
  /** The current measurement of each sensor, by its name, the latest first. */
  readonly current: ReadonlyMap<string, Measurement>;
  /** The last measurement of each silent sensor, by its name, the latest first. */
  readonly silent: ReadonlyMap<string, Measurement>;
  /** How many sensors have been forgotten for lack of room, and the last of them. */
  readonly evicted: { readonly count: number; readonly name: string };
}

/**
 * Yields the known sensors, those that have been silent longest last: the name, its last
 * reading as JSON, when that arrived, and whether it is current.
 */
export function* listSensors(
  { current, silent }: Snapshot,
): Generator<Measurement & { name: string; isCurrent: boolean }> {
  for (const sensors of [current, silent]) {
    const isCurrent = sensors === current;
    for (const [name, measurement] of sensors) {
      yield { ...measurement, name, isCurrent };
    }
  }
}
