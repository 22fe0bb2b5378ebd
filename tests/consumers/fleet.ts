// A fleet of boards, of which most are hanging, stale or down.

import { assert, assertEquals } from "@std/assert";
import { missingAddress } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { Program } from "../helpers/program.ts";
import { delay, waitFor } from "../helpers/wait.ts";

/** For how long the ages of readings are measured, in s: six rounds of most examples. */
const DURATION_S = 30;

/** The numbers of the live boards. */
const LIVE = [1, 2, 3, 4];

/** Tells whether this machine has an address for each board of a fleet. */
export function missingAddresses(): string | undefined {
  return missingAddress("127.0.0.2");
}

/** A fleet of 20 boards, of which 4 are live. */
export class Fleet implements AsyncDisposable {
  readonly live: string[] = [];
  readonly missing: string[] = [];
  readonly #stack = new AsyncDisposableStack();
  #addresses = 1;

  /** Starts it. A live board's reading is the time, and its number after the point. */
  static async start(): Promise<Fleet> {
    await using stack = new AsyncDisposableStack();
    const fleet = stack.use(new Fleet());
    const [first, second, ...others] = LIVE;
    for (const board of [first, second]) {
      const sensor = `while date +%s.${board}; do sleep 1; done`;
      await fleet.#addService(fleet.live, sensor);
    }
    await fleet.#addService(fleet.missing, "echo 1"); // and ends
    for (const board of others) {
      const time = () => `${Math.floor(Date.now() / 1000)}.${board}`;
      fleet.#addServer(fleet.live, () => new Response(time()));
    }
    const stale = { status: 503 };
    fleet.#addServer(fleet.missing, () => Response.json(stale, stale));
    for (let count = 0; count < 12; count++) fleet.#addHanging();
    for (let count = 0; count < 2; count++) fleet.#addRefusing();
    assertEquals(fleet.boards.length, 20);
    stack.move(); // the caller disposes of it
    return fleet;
  }

  /** All boards, with their ports. */
  get boards(): string[] {
    return [...this.missing, ...this.live];
  }

  /** Adds the service, whose sensor prints lines. */
  async #addService(boards: string[], sensor: string): Promise<void> {
    const script = `{ ${sensor}; } | exec "$@"`;
    const wrap = ["sh", "-c", script, "sh"];
    const flags = ["--stdin", "--json", "--max-age", "15"];
    const options = { wrap, killGroup: true };
    const program = this.#stack.use(await Program.start(flags, options));
    boards.push(`127.0.0.1:${program.port}`);
  }

  /** Adds a stand-in. */
  #addServer(boards: string[], answer: () => Response): void {
    const options = { hostname: this.#address(), port: 0, onListen() {} };
    const { addr } = this.#stack.use(Deno.serve(options, answer));
    boards.push(`${addr.hostname}:${addr.port}`);
  }

  /** Adds a board that accepts connections and never answers. */
  #addHanging(): void {
    const options = { hostname: this.#address(), port: 0 };
    const { addr } = this.#stack.use(Deno.listen(options));
    this.missing.push(`${addr.hostname}:${addr.port}`);
  }

  /** Adds a board that refuses connections. */
  #addRefusing(): void {
    const port = this.#stack.use(new ReservedPort());
    this.missing.push(`${this.#address()}:${port}`);
  }

  #address(): string {
    return `127.0.0.${++this.#addresses}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Returns the time of the youngest reading of each live board in a text, in s. */
function findTimes(text: string): (number | undefined)[] {
  return LIVE.map((board) => {
    const readings = text.matchAll(RegExp(`\\b(\\d{10})\\.${board}\\b`, "g"));
    const times = Array.from(readings, ([, time]) => Number(time));
    return times.toSorted().at(-1);
  });
}

/**
 * Waits until a program has read each live board, and asserts that it keeps doing so.
 *
 * @param read Returns the readings that it has.
 * @param limit How old they may be, in s.
 */
export async function assertKeepsReading(
  read: () => string | Promise<string>,
  limit: number,
): Promise<void> {
  await waitFor(
    "a reading of each live board",
    async () => findTimes(await read()),
    (times) => times.every((time) => time !== undefined),
  );
  for (let second = 0; second < DURATION_S; second++) {
    await delay(1000);
    const times = findTimes(await read());
    const now = Date.now() / 1000;
    const ages = times.map((time) => time === undefined ? "none" : now - time);
    const areYoung = ages.every((age) => age !== "none" && age <= limit);
    assert(areYoung, `The ages of the readings, in s: ${ages.join(", ")}`);
  }
}
