// Readings: lines of an input, their limits and their age.

import { assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { createInputSensor, MAX_LENGTH } from "../../src/sensor.ts";
import { waitFor } from "../helpers/wait.ts";

const START = Date.UTC(2026, 10, 20, 17, 14, 56);
const NOTHING = { unavailable: "The sensor has sent no reading yet" };
const ENDED = "The input has ended: no new readings will arrive";
const TOO_LONG = "Dropped a reading longer than 65536 bytes";
const NOT_JSON = "Dropped a reading that is not JSON";

/** A sensor, its input and clocks, and what it warned of. */
function sensorOn(maxAge = Infinity, json = false) {
  const chunks: Uint8Array[] = [];
  const warnings: string[] = [];
  const clock = { now: 1000, date: START };
  let wake = () => {};
  let isWaiting = false;
  let failure: Error | undefined;
  let hasEnded = false;
  const input = {
    async read(bytes: Uint8Array) {
      while (chunks.length === 0) {
        if (failure) throw failure;
        if (hasEnded) return null;
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        isWaiting = true;
        await promise;
        isWaiting = false;
      }
      const chunk = chunks.shift()!;
      const count = Math.min(chunk.length, bytes.length);
      bytes.set(chunk.subarray(0, count));
      if (count < chunk.length) chunks.unshift(chunk.subarray(count));
      return count;
    },
  };
  const logger = {
    warn: (line: string) => warnings.push(line),
  } as unknown as Logger;
  const sensor = createInputSensor(
    input,
    { json, maxAge },
    logger,
    () => clock.now,
    () => clock.date,
  );
  return {
    sensor,
    clock,
    warnings,
    /** Sends text or bytes, and waits until all of it is read. */
    async send(...sent: (string | Uint8Array)[]) {
      const encoder = new TextEncoder();
      chunks.push(
        ...sent.map((one) =>
          typeof one === "string" ? encoder.encode(one) : one
        ),
      );
      wake();
      await waitFor(() => chunks.length === 0 && isWaiting);
    },
    async end(error?: Error) {
      failure = error;
      hasEnded = true;
      wake();
      await waitFor(() => warnings.length > 0);
    },
    pass(milliseconds: number) {
      clock.now += milliseconds;
      clock.date += milliseconds;
    },
    /** The JSON text of the reading. */
    json() {
      const reading = sensor();
      return "unavailable" in reading ? undefined : reading.json;
    },
    /** The text of the reading. */
    text(): string | undefined {
      const json = this.json();
      return json === undefined ? undefined : JSON.parse(json);
    },
  };
}

const LONGEST = "x".repeat(MAX_LENGTH);

const INPUTS: [chunks: (string | Uint8Array)[], text: string | undefined][] = [
  [["21.5\n"], "21.5"],
  [["21.5\r\n"], "21.5"],
  [["21.5"], undefined],
  [["21.5\n22"], "21.5"],
  [["21.5\n22\n"], "22"],
  [["x\n"], "x"],
  [["21.5\n", "x", "\n"], "x"],
  [["21", ".5", "\r", "\n"], "21.5"],
  [["21.5\n\n"], "21.5"],
  [["21.5\n", "\r\n \t\r\n\n"], "21.5"],
  [["\n\n21.5\n"], "21.5"],
  [["  21.5 °C \n"], "  21.5 °C "],
  [["21\r.5\n"], "21\r.5"],
  [['{"a": "b"}\n'], '{"a": "b"}'],
  [[new Uint8Array([0x61, 0xff, 0xc3, 0x0a])], "a\ufffd\ufffd"],
  [[new Uint8Array([0xc2]), new Uint8Array([0xb0, 0x0a])], "°"],
  [["\ufeff21.5\n"], "\ufeff21.5"],
  [[`${LONGEST}\n`], LONGEST],
  [[LONGEST, "\n"], LONGEST],
  [[`21.5\n${LONGEST}\n22\n`], "22"],
];

for (const [chunks, text] of INPUTS) {
  const name = JSON.stringify(chunks).slice(0, 60);
  Deno.test(`createInputSensor() reads ${name} as ${text?.slice(0, 20)}`, async () => {
    const input = sensorOn();
    const { send, warnings } = input;
    await send(...chunks);
    assertEquals(input.text(), text);
    assertEquals(warnings, []);
  });
}

Deno.test("createInputSensor() drops a line that is too long", async () => {
  for (const excess of [1, 2, MAX_LENGTH, 10 * MAX_LENGTH]) {
    const sensor = sensorOn();
    const { send, warnings } = sensor;
    const text = () => sensor.text();
    await send("21.5\n", LONGEST, "x".repeat(excess));
    assertEquals([text(), warnings], ["21.5", [TOO_LONG]]);
    await send("x", "\n");
    assertEquals([text(), warnings], ["21.5", [TOO_LONG]]);
    await send("22\n");
    assertEquals([text(), warnings], ["22", [TOO_LONG]]);
    await send(`${LONGEST}xx\n23\n24`);
    assertEquals([text(), warnings], ["23", [TOO_LONG, TOO_LONG]]);
    await send(`\n${LONGEST}x`);
    await send("end of it\n"); // and nothing else comes with it
    assertEquals(text(), "24");
  }
});

Deno.test("createInputSensor() serves JSON unchanged", async () => {
  const input = sensorOn(Infinity, true);
  const texts = [
    '{"t": 21.50}',
    "12345678901234567890",
    ' [1, "°"] ',
    '"21.5"',
    "null",
    "7",
  ];
  for (const text of texts) {
    await input.send(`${text}\r\n`);
    assertEquals(input.json(), text);
  }
  await input.send("1\n2\n3");
  assertEquals([input.json(), input.warnings], ["2", []]);
});

Deno.test("createInputSensor() drops lines that are not JSON", async () => {
  const invalid = [
    "21,5",
    "{'t': 21.5}",
    "NaN",
    "\ufeff1",
    "{",
    "1 2",
    "[".repeat(MAX_LENGTH),
    new Uint8Array([0x22, 0xff, 0x22]),
  ];
  for (const line of invalid) {
    const input = sensorOn(Infinity, true);
    await input.send("21.5\n", line, "\n");
    assertEquals([input.json(), input.warnings], ["21.5", [NOT_JSON]]);
  }
});

Deno.test("createInputSensor() warns once of consecutive invalid lines", async () => {
  const input = sensorOn(15, true);
  const { send, warnings, pass } = input;
  await send("a\n", "b\nc\n\n", "d\n");
  assertEquals([input.json(), warnings], [undefined, [NOT_JSON]]);
  await send("1\nx\n");
  assertEquals([input.json(), warnings], ["1", [NOT_JSON, NOT_JSON]]);
  await send("y\n2\n", "z\n", `${LONGEST}x\n`, `${LONGEST}x\n`);
  const all = [NOT_JSON, NOT_JSON, NOT_JSON, TOO_LONG];
  assertEquals([input.json(), warnings], ["2", all]);
  pass(15_001);
  await send("x\n");
  assertEquals(input.json(), undefined);
});

Deno.test("createInputSensor() accepts a last line without an end", async () => {
  const input = sensorOn();
  const { send, end, warnings } = input;
  const text = () => input.text();
  await send("21.5\n22");
  assertEquals(text(), "21.5");
  await end();
  assertEquals([text(), warnings], ["22", [ENDED]]);
});

Deno.test("createInputSensor() drops the rest of a line that is too long", async () => {
  const input = sensorOn();
  const { send, end, warnings } = input;
  const text = () => input.text();
  await send("21.5\n", LONGEST, "xx", "22");
  await end();
  assertEquals(text(), "21.5");
  await waitFor(() => warnings.length === 2);
  assertEquals(warnings, [TOO_LONG, ENDED]);
});

Deno.test("createInputSensor() keeps its last reading when the input ends or fails", async () => {
  for (const error of [undefined, new Error("Input/output error")]) {
    const input = sensorOn(15);
    const { send, end, pass, warnings } = input;
    const text = () => input.text();
    await send("21.5\n");
    await end(error);
    assertEquals(text(), "21.5");
    assertEquals(warnings, [
      error ? ENDED.replace(":", ' after "Error: Input/output error":') : ENDED,
    ]);
    pass(15_001);
    assertEquals(text(), undefined);
  }
});

Deno.test("createInputSensor() says that there is no reading yet", async () => {
  const { sensor, end } = sensorOn();
  assertEquals(sensor(), NOTHING);
  await end();
  assertEquals(sensor(), NOTHING);
});

Deno.test("createInputSensor() says that a reading is too old until the next one arrives", async () => {
  const input = sensorOn(1.5);
  const { sensor, send, pass } = input;
  const text = () => input.text();
  await send("21.5\n");
  pass(1500);
  assertEquals(text(), "21.5");
  pass(1);
  assertEquals(sensor(), {
    unavailable: "The last reading is 1.6 s old: the limit is 1.5 s",
  });
  pass(60_000);
  assertEquals(sensor(), {
    unavailable: "The last reading is 61.6 s old: the limit is 1.5 s",
  });
  await send("22\n");
  assertEquals(text(), "22");
});

Deno.test("createInputSensor() keeps a reading forever without a limit", async () => {
  const input = sensorOn();
  const { send, pass } = input;
  const text = () => input.text();
  await send("21.5\n");
  pass(1e12);
  assertEquals(text(), "21.5");
});

Deno.test("createInputSensor() returns the same reading until the next one arrives", async () => {
  const { sensor, send, pass } = sensorOn();
  await send("21.5\n");
  const reading = sensor();
  assertEquals(reading, { json: '"21.5"', time: START });
  pass(10_000);
  assertEquals(sensor() === reading, true);
  await send("21.5\n");
  assertEquals(sensor(), { json: '"21.5"', time: START + 10_000 });
});

Deno.test("createInputSensor() ignores changes of the system clock", async () => {
  for (const jump of [-1e12, 1e12]) {
    const { sensor, send, clock, pass } = sensorOn(15);
    await send("21.5\n");
    pass(5000);
    clock.date += jump;
    assertEquals(sensor(), { json: '"21.5"', time: START });
    pass(10_001);
    assertEquals("unavailable" in sensor(), true);
  }
});

Deno.test("createInputSensor() pauses after each read", async () => {
  let reads = 0;
  const input = {
    read: (bytes: Uint8Array) =>
      Promise.resolve(reads++ < 20 ? bytes.length : null),
  };
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<void>();
  const warn = () => reads > 20 && resolve();
  createInputSensor(
    input,
    { json: false, maxAge: Infinity },
    { warn } as unknown as Logger,
  );
  await promise;
  assertEquals(performance.now() - start > 50, true);
});
