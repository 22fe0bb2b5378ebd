// What the page knows of the board at each time, without a browser.

import { assertEquals } from "@std/assert";
import { Board } from "../../../src/page/board.js";
import { formatTime } from "../../../src/page/graph.js";
import { tellNow } from "../../../src/page/values.js";
import { TestClock } from "../test_clock.ts";
import { type Sensor, writeCsv, writeSensors } from "./answers.ts";

const URL = "http://board/";
const NO_ANSWER = `${URL} does not answer`;
const REFUSAL = "The password is missing or wrong: load this page again";

/** Returns what is known of a sensor without a name. */
const one = (v: unknown): Sensor[] => [[undefined, 0, { v }]];

/** A page that asks a board, which answers as a test says. Times are in s since the start. */
class Page extends Board {
  /** What the board answers: sensors or a text, with a status, 0 for no answer, in its time. */
  sensors: Sensor[] | string = one(1);
  history = "time\r\n";
  readonly status = { sensors: 200, history: 200 };
  readonly late = { sensors: 0, history: 0 };
  /** How far the board's clock is ahead. */
  ahead = 0;
  readonly #events: string[] = [];

  constructor(readonly clock = new TestClock(), readonly start = clock.wallMs) {
    const ask = (url: unknown, options?: RequestInit) =>
      this.#answer(`${url}`, options!.signal!);
    super(URL, ask as typeof fetch, clock, () => this.#note(this.text));
    this.remember("v", "1,2,3");
  }

  /** What there is to show: what each sensor lacks, and its values. */
  get text(): string {
    const { isAsking, failure, sensors } = this.shown;
    if (isAsking) return "asking";
    const texts = sensors.map((sensor) => {
      const values = this.values(sensor.name).map((value) => {
        const isSilent = sensor.reading === undefined;
        const { text, word } = tellNow(value, isSilent, failure);
        return `${value.name}=${word ?? text}`;
      });
      return [sensor.name, sensor.lack, ...values].filter(Boolean).join(" ");
    });
    return failure || texts.join(", ");
  }

  values(name = "") {
    const sensor = this.shown.sensors.find((it) => it.name === name);
    return [...sensor.values.values()];
  }

  /** Lets time pass. Returns what was asked for and shown since the last call, and when. */
  async pass(seconds: number): Promise<string[]> {
    await this.clock.pass(1000 * seconds);
    return this.#events.splice(0);
  }

  /** Opens the page, and lets time pass. */
  open(seconds: number): Promise<string[]> {
    this.restart(false);
    return this.pass(seconds);
  }

  /** Lets the board answer anew, and time pass until that is there. */
  next(sensors: Sensor[] | string): Promise<string[]> {
    this.sensors = sensors;
    return this.pass(5);
  }

  /** Writes a time as the page does, in the zone of this machine. */
  time(seconds: number): string {
    return formatTime(this.start + 1000 * seconds, this.clock.wallMs);
  }

  /** Gives the board a history with slots, the last of which ends now. */
  remember(series: string, ...rows: string[]): void {
    const names = series.split(",").map((name) => ` ${name}`);
    this.history = writeCsv(this.clock.wallMs, names, rows);
  }

  #note(event: string): void {
    this.#events.push(`${(this.clock.wallMs - this.start) / 1000} ${event}`);
  }

  async #answer(url: string, signal: AbortSignal): Promise<unknown> {
    const path = url.slice(URL.length) as "sensors" | "history";
    this.#note(`? ${path}`);
    const status = this.status[path];
    const answer = this[path];
    const now = this.clock.wallMs + 1000 * this.ahead;
    const body = typeof answer === "string"
      ? answer
      : writeSensors(answer, now);
    await new Promise<void>((resolve, reject) => {
      signal.onabort = reject;
      if (status) this.clock.delay(1000 * this.late[path]).then(resolve);
    });
    return { ok: status === 200, status, text: () => Promise.resolve(body) };
  }
}

/** Defines a test of a page. */
const test = (name: string, run: (page: Page) => Promise<void>) =>
  Deno.test(`the page ${name}`, () => run(new Page()));

test("asks every five seconds, and first for the last day, for which values wait for a second", async (page) => {
  const first = ["0 asking", "0 ? history", "0 ? sensors"];
  page.late.history = 0.9;
  const next = ["0.9 v=1", "5 ? sensors", "5 v=1"];
  assertEquals(await page.open(9), [...first, ...next]);
  const other = new Page();
  other.late.history = 3;
  other.remember("v", "1,2,3.5");
  assertEquals(await other.open(4), [...first, "1 v=1", "3 v=1.0"]);
});

test("counts the time of an answer to its age, and then pauses for a second", async (page) => {
  page.late.sensors = 4.5;
  assertEquals((await page.open(5)).slice(2), ["0 ? sensors", "4.5 v=1"]);
  assertEquals(page.shown.sensors[0].age, 4.5);
  assertEquals(await page.pass(0.5), ["5.5 ? sensors"]);
});

test("shows what was last answered for ten seconds", async (page) => {
  await page.open(6);
  page.status.sensors = 0;
  const failure = `${NO_ANSWER}: its last answer came at ${page.time(5)}`;
  assertEquals(await page.pass(10), ["10 ? sensors", `15 ${failure}`]);
  page.sensors = one(2);
  page.status.sensors = 200;
  const back = [`20 ${failure}`, "21 ? sensors", "21 v=2"];
  assertEquals(await page.pass(6), back);
});

test("says that there was no answer, once, and asks again", async (page) => {
  page.status.sensors = page.status.history = 0;
  const shown = (await page.open(12)).slice(3);
  assertEquals(shown, [`10 ${NO_ANSWER}`, "11 ? sensors"]);
  await page.pass(50);
  assertEquals(page.shown.missing, ""); // as it has no reason of its own
});

test("gives the last day up after a minute, says so, and asks for it a minute later", async (page) => {
  page.status.history = 0;
  await page.open(59);
  assertEquals(page.shown.missing, "");
  await page.pass(2);
  assertEquals(page.shown.missing, NO_ANSWER);
  const asked = (await page.pass(65)).filter((it) => it.endsWith("history"));
  assertEquals(asked, ["120 ? history"]);
});

test("uses no answer that was overtaken, nor its pause", async (page) => {
  page.late.sensors = 3;
  await page.open(1);
  page.sensors = one(2);
  page.late.sensors = 0;
  page.poll(); // the network is there again
  assertEquals(await page.pass(1), ["1 ? sensors", "1 v=2"]);
  page.poll();
  await page.pass(1.5);
  assertEquals(page.text, "v=2");
  assertEquals(await page.pass(4), ["7 ? sensors", "7 v=2"]);
});

test("shows why there is no reading at once, shortened", async (page) => {
  await page.open(1);
  const detail = `They are ${"x".repeat(300)}`;
  page.status.sensors = 503;
  const failure = `No current reading: ${detail.slice(0, 200)}…`;
  const shown = await page.next(JSON.stringify({ detail }));
  assertEquals(shown, ["5 ? sensors", `5 ${failure}`]);
});

for (const body of ["[null]", "[]", "no JSON", '[{"name":{"toString":1}}]']) {
  test(`shows no old number when a proxy answers ${body}`, async (page) => {
    await page.open(1);
    const failure = `${URL}sensors answers with status 200 and no reading`;
    assertEquals(await page.next(body), ["5 ? sensors", `5 ${failure}`]);
    assertEquals(await page.next(one(2)), ["10 ? sensors", "10 v=2"]);
  });
}

test("asks nothing again after a wrong password", async (page) => {
  page.status.sensors = 401;
  await page.open(1);
  assertEquals(page.text, REFUSAL);
  page.poll();
  page.restart(false);
  assertEquals(await page.pass(30), []);
});

test("uses no answer after a wrong password for the last day", async (page) => {
  page.status.history = 401;
  Object.assign(page.late, { sensors: 5, history: 4 });
  assertEquals((await page.open(30)).slice(3), [`4 ${REFUSAL}`]);
});

test("asks for the last day once the next slot has ended, and until it is there", async (page) => {
  await page.open(309);
  page.late.history = 0.5;
  const asked = ["310 ? history", "310 ? sensors", "310 v=1", "310.5 v=1"];
  assertEquals(await page.pass(1.5), asked);
  const again = (await page.pass(70)).filter((it) => it.endsWith("history"));
  assertEquals(again, ["375 ? history"]);
});

for (const [seconds, times] of [[-7, [10]], [60, [10]], [55, []]] as const) {
  test(`asks for the last day if the board's clock goes ${seconds} s on within 5 s: ${times.length}`, async (page) => {
    await page.open(1);
    page.ahead = seconds;
    const asked = (await page.pass(13)).filter((it) => it.endsWith("history"));
    assertEquals(asked, times.map((it) => `${it} ? history`));
  });
}

test("keeps the board's clock when an answer has none", async (page) => {
  await page.open(1);
  const { now } = page.shown;
  await page.next([[undefined, "x", { v: 2 }]]);
  assertEquals([page.shown.now, page.text], [now, "v=2"]);
});

test("asks nothing while it is hidden, and uses nothing that it asked for", async (page) => {
  Object.assign(page.late, { sensors: 3, history: 8 });
  await page.open(6);
  page.restart(true);
  assertEquals(await page.pass(60), ["6 asking"]);
  const other = new Page();
  other.late.history = 3;
  await other.open(0.5); // its first values wait for their graphs
  other.restart(true);
  assertEquals(await other.pass(60), ["0.5 asking"]);
});

test("asks at once when it is seen again, and does not end what it asks for", async (page) => {
  await page.open(1);
  page.restart(true);
  await page.pass(6);
  page.late.sensors = 6;
  page.restart(false);
  assertEquals(await page.pass(6.5), ["7 asking", "7 ? sensors", "13 v=1"]);
  page.restart(true);
  await page.pass(300);
  page.late.history = 0.5;
  page.restart(false); // its history is old
  assertEquals((await page.pass(6.5)).slice(2), ["319.5 ? history", "320 v=1"]);
});

test("keeps what it has shown in its order, but no text that is gone, nor a sensor that is forgotten", async (page) => {
  page.sensors = [["k10", 0, { z: 1, s: "7", a: 2 }], ["K9", 0, { v: 3 }]];
  await page.open(1);
  assertEquals(page.text, 'K9 v=3, k10 z=1 s="7" a=2');
  await page.next([["k10", 0, { a: 2, b: true, z: 1, s: "8" }]]);
  assertEquals(page.text, 'k10 z=1 s="8" a=2 b=yes');
  await page.next([["k10", 0, { a: 2 }]]);
  assertEquals(page.text, "k10 missing a value z=missing a=2 b=missing");
  await page.next([["k10", 400]]);
  const since = `silent since ${page.time(-385)}`;
  assertEquals(page.text, `k10 ${since} z=silent a=silent b=silent`);
  const seen = page.values("k10").map(({ points }) => points.length);
  assertEquals(seen, [2, 3, 1]);
});

test("shows what a sensor was that died before, and guesses nothing", async (page) => {
  const last = { open: true, "t_C": -18.5, mode: "auto" };
  page.sensors = [["door", 400, undefined, last], ["well", 400]];
  page.remember("door: gone,door: open,well: t", "1,2,3,0,0.5,1,4,5,6");
  await page.open(1);
  const since = `silent since ${page.time(-400)}`;
  const silent = "open=silent t=silent mode=silent";
  assertEquals(page.text, `door ${since} ${silent}, well ${since}`);
  const texts = page.values("door").map(({ kind, full }) => `${kind} ${full}`);
  const at = `at ${page.time(-400)}`;
  assertEquals(texts, [
    `boolean last yes ${at}`,
    `number last −18.5\u00a0°C ${at}`,
    `number last auto ${at}`,
  ]);
});

test("shows 2000 sensors and values, and counts what is silent behind them", async (page) => {
  const many = Array.from({ length: 2003 }, (_, i): Sensor => [`${i}`, 400]);
  const steps: [sensors: Sensor[], shown: unknown[]][] = [
    [[["a", 0, Array(1999).fill(0)], ["b", 0, 7]], [2, 2, 0, false, 1999, 1]],
    [[["a", 0, Array(2001).fill(0)], ["b", 0, 7]], [2, 2, 0, true, 2000, 0]],
    [[...many, ["z", 0, 7]], [2000, 2004, 3, true, 0, 0]],
  ];
  page.restart(false);
  for (const [answer, expected] of steps) {
    await page.next(answer);
    const { sensors, count, unseen, isCut } = page.shown;
    const sizes = sensors.slice(0, 2).map(({ values }) => values.size);
    assertEquals([sensors.length, count, unseen, isCut, ...sizes], expected);
  }
});

test("has a place for a graph, unless the value was the same before it was shown", async (page) => {
  const places: boolean[] = [];
  const note = () => places.push(page.values()[0].isDrawn);
  page.late.history = 2;
  page.remember("v", "1,1,1", "1,1,1");
  await page.open(1.5).then(note); // its graph may come
  await page.pass(5).then(note);
  await page.open(1).then(note);
  await page.next(one(2)).then(note);
  assertEquals(places, [true, true, false, true]);
});

test("writes a number with as many decimals as it has had", async (page) => {
  page.remember("v", "1,2,3.25");
  await page.open(1);
  const texts = [page.text];
  for (const value of [1.125, 2]) {
    await page.next(one(value));
    texts.push(page.text);
  }
  assertEquals(texts, ["v=1.00", "v=1.125", "v=2.000"]);
});
