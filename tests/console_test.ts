import { assertEquals, assertMatch } from "@std/assert";
import { CAPACITY, createConsole } from "../src/console.ts";
import {
  command,
  exchange,
  freePort,
  Program,
  waitFor,
} from "./helpers/program.ts";

/** A console on a sink that takes as many bytes as it is told. */
function consoleOn(
  take: (bytes: Uint8Array) => number | Promise<number>,
  { level = "DEBUG" as "DEBUG" | "INFO", color = false } = {},
) {
  const decoder = new TextDecoder();
  let printed = "";
  const sink = async (bytes: Uint8Array) => {
    const count = await take(bytes);
    printed += decoder.decode(bytes.subarray(0, count), { stream: true });
    return count;
  };
  const { logger, flush } = createConsole(sink, level, color);
  return { logger, flush, printed: () => printed };
}

const takeAll = (bytes: Uint8Array) => bytes.length;

Deno.test("createConsole() writes lines in order, with their level unless INFO", async () => {
  const { logger, flush, printed } = consoleOn(takeAll);
  logger.info("one");
  logger.warn("two");
  logger.error("three");
  logger.debug("four");
  await flush();
  assertEquals(printed(), "one\nWARN two\nERROR three\nDEBUG four\n");
});

Deno.test("createConsole() colours only warnings and errors", async () => {
  const { logger, flush, printed } = consoleOn(takeAll, { color: true });
  logger.info("one");
  logger.warn("two");
  logger.error("three");
  await flush();
  assertEquals(
    printed(),
    "one\n\x1b[33mWARN two\x1b[0m\n\x1b[31mERROR three\x1b[0m\n",
  );
});

Deno.test("createConsole() leaves out records below its level", async () => {
  const { logger, flush, printed } = consoleOn(takeAll, { level: "INFO" });
  logger.debug("one");
  logger.info("two");
  await flush();
  assertEquals(printed(), "two\n");
});

Deno.test("createConsole() writes the rest of what a sink took in part", async () => {
  const { logger, flush, printed } = consoleOn((bytes) =>
    Math.min(bytes.length, 3)
  );
  logger.info("21.5 °C");
  logger.info("🌡");
  await flush();
  assertEquals(printed(), "21.5 °C\n🌡\n");
});

Deno.test("createConsole() writes many lines with few writes", async () => {
  let writes = 0;
  const { logger, flush, printed } = consoleOn((bytes) => {
    writes++;
    return bytes.length;
  });
  for (let i = 0; i < 1000; i++) logger.info(`line ${i}`);
  await flush();
  assertEquals(writes, 1);
  assertEquals(printed().split("\n").length, 1001);
});

Deno.test("createConsole() drops no line while its sink keeps up", async () => {
  const { logger, flush, printed } = consoleOn(takeAll);
  const line = "x".repeat(1023);
  const count = 3 * CAPACITY / 1024;
  for (let i = 0; i < count; i++) {
    logger.info(line);
    await null; // the sink goes on, no timer does
  }
  await flush();
  assertEquals(printed() === `${line}\n`.repeat(count), true);
});

Deno.test("createConsole() writes what comes after a flush of nothing", async () => {
  const { logger, flush, printed } = consoleOn(takeAll);
  await flush();
  logger.info("one");
  await flush();
  assertEquals(printed(), "one\n");
});

Deno.test("createConsole() keeps its lines for a sink that fails", async () => {
  let failures = 2;
  const { logger, flush, printed } = consoleOn((bytes) => {
    if (failures-- > 0) throw new Error("No space left on device");
    return bytes.length;
  });
  logger.info("one");
  logger.info("two");
  await flush();
  assertEquals(printed(), "one\ntwo\n");
});

/** A console whose sink is stuck with its first write until there is room. */
function stuckConsole() {
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const { promise: stuck, resolve: isStuck } = Promise.withResolvers<void>();
  const console = consoleOn(async (bytes) => {
    isStuck();
    await room;
    return bytes.length;
  });
  return { ...console, stuck, makeRoom };
}

Deno.test("createConsole() drops lines when its buffer is full, and says how many", async () => {
  const { logger, flush, printed, stuck, makeRoom } = stuckConsole();
  const line = "x".repeat(1023);
  const kept = 1 + CAPACITY / 1024;
  logger.info(line);
  await stuck; // with the first line
  for (let i = 1; i < kept + 7; i++) logger.info(line);
  makeRoom();
  await flush();
  assertEquals(
    printed(),
    `${line}\n`.repeat(kept) +
      "WARN Dropped 7 log lines, the console was too slow\n",
  );
  logger.info("after");
  await flush();
  assertEquals(printed().endsWith("slow\nafter\n"), true);
});

Deno.test("createConsole() drops whole lines where characters take more bytes", async () => {
  const { logger, flush, printed, stuck, makeRoom } = stuckConsole();
  const line = "°".repeat(500);
  logger.info(line);
  await stuck;
  for (let i = 1; i < CAPACITY / 500; i++) logger.info(line);
  makeRoom();
  await flush();
  const lines = printed().split("\n").slice(0, -1);
  const dropped = lines.pop()!.match(/^WARN Dropped (\d+) log lines/)![1];
  for (const text of lines) assertEquals(text, line);
  assertEquals(lines.length + Number(dropped), Math.ceil(CAPACITY / 500));
});

const LINE = /^127\.0\.0\.1 - - \[[^\]]{20}\] "GET \/\d+\/ HTTP\/1\.1" 404 -$/;

/** Sends GETs, each with a target of its own, and counts the answers 404. */
async function ask(port: number, count: number, padding = 0): Promise<number> {
  const requests = Array.from(
    { length: count },
    (_, index) =>
      `GET /${index}/${"x".repeat(padding)} HTTP/1.1\r\nHost: board\r\n\r\n`,
  );
  let answers = 0;
  for (let first = 0; first < count; first += 50) {
    const batch = requests.slice(first, first + 50);
    const isAnswer = /HTTP\/1\.1 404/g;
    const response = await exchange(
      port,
      batch.join(""),
      (text) => text.match(isAnswer)?.length === batch.length,
    );
    answers += response.match(isAnswer)?.length ?? 0;
  }
  return answers;
}

Deno.test("the program answers while nobody reads its console", async () => {
  await using program = await Program.start();
  program.pause();
  // 4 MB of lines: more than the pipe and the buffer hold
  assertEquals(await ask(program.port, 2000, 2000), 2000);
  program.resume();
  await program.waitFor(() =>
    program.lines.at(-1)?.startsWith("WARN") ?? false
  );
  const [, dropped] = program.lines.at(-1)!.match(/Dropped (\d+) log lines/)!;
  assertEquals(program.lines.length - 1 + Number(dropped), 2000);
  assertEquals(await ask(program.port, 1), 1);
  await program.waitFor(() => program.lines.at(-1)!.includes('"GET /0/ HTTP'));
});

Deno.test("the program answers when the reader of its console is gone", async () => {
  await using program = await Program.start();
  program.closeConsole();
  await ask(program.port, 1);
  await program.waitFor(() => program.consoleIsClosed);
  assertEquals(await ask(program.port, 500), 500);
  assertEquals((await program.stop()).code, 0);
});

Deno.test("the program answers while the disk of its console is full", async () => {
  // The report cannot be read, so neither can the address: tell it one
  const port = freePort();
  const args = command(["--port", String(port)]).flat();
  await using program = Program.appendingTo("/dev/full", args);
  await waitFor(() => ask(port, 1).then(() => true, () => false));
  assertEquals(await ask(port, 500), 500);
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stderr, "");
});

Deno.test("the program logs each of many requests over 50 connections", async () => {
  await using program = await Program.start();
  await Promise.all(Array.from({ length: 50 }, () => ask(program.port, 200)));
  await program.stop();
  assertEquals(program.lines.length, 50 * 200);
  for (const line of program.lines) assertMatch(line, LINE);
});

Deno.test("the program logs every request that it answered before SIGTERM", async () => {
  await using program = await Program.start();
  const answers = Array.from({ length: 20 }, async () => {
    let count = 0;
    try {
      for (;;) count += await ask(program.port, 1);
    } catch {
      return count; // it is gone
    }
  });
  await program.waitForLines(1000);
  const { code } = await program.stop();
  assertEquals(code, 0);
  const answered = (await Promise.all(answers)).reduce((a, b) => a + b);
  assertEquals(answered >= 1000 - 20, true);
  // A request may be handled and its answer still be lost, one a connection
  assertEquals(program.lines.length >= answered, true);
  assertEquals(program.lines.length <= answered + 20, true);
  for (const line of program.lines) assertMatch(line, LINE);
});

Deno.test("two programs that append to one file keep their lines whole", async () => {
  const file = await Deno.makeTempFile();
  const start = () =>
    Program.appendingTo(file, command(["--port", "0"]).flat());
  try {
    await using first = start();
    await using second = start();
    const read = () => Deno.readTextFileSync(file);
    const ports = () =>
      [...read().matchAll(/http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) =>
        port
      );
    await waitFor(() => ports().length === 2);
    await Promise.all(
      ports().map((port) => ask(Number(port), 5000)),
    );
    await Promise.all([first.stop(), second.stop()]);
    const lines = read().split("\n").filter((line) =>
      line.includes("HTTP/1.1")
    );
    assertEquals(lines.length, 2 * 5000);
    for (const line of lines) assertMatch(line, LINE);
  } finally {
    await Deno.remove(file);
  }
});
