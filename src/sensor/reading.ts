/**
 * The limit of a response that lists sensors or numbers: while a client does not read it, the
 * kernel keeps all of it.
 */
export const MAX_RESPONSE_CHARACTERS = 512 * 1024;

/** What is served: the fixed text, or what a sensor has sent. */
export interface Reading {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it arrived, by the wall clock, in ms since 1970. The fixed text never did. */
  readonly time?: number;
}

/** What a sensor has sent, or all of them joined, with the time of the latest. */
export interface SensorReading extends Reading {
  readonly time: number;
}

/** Which sensors are known at a time, with their last readings. */
export interface Snapshot {
  /** Whether sensors have names, as with `--key`. If not, there is one, whose name is empty. */
  readonly haveNames: boolean;
  /** All current readings as one, if there are any. */
  readonly all: SensorReading | undefined;
  /** The current reading of each sensor, by its name, the latest first. */
  readonly current: ReadonlyMap<string, SensorReading>;
  /** The last reading of each silent sensor, by its name, the latest first. */
  readonly silent: ReadonlyMap<string, SensorReading>;
  /** How many sensors have been evicted for lack of room, and the last of them. */
  readonly evicted: { readonly count: number; readonly name: string };
}

/** Yields the last reading of each known sensor, the latest first, and silent ones last. */
export function* listSensors(
  { current, silent }: Snapshot,
): Generator<SensorReading & { name: string; isCurrent: boolean }> {
  for (const sensors of [current, silent]) {
    const isCurrent = sensors === current;
    for (const [name, reading] of sensors) {
      yield { ...reading, name, isCurrent };
    }
  }
}
