// The logger: which lines it writes for a record.

import { assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { createLogger, type LogStyle } from "../../src/logger.ts";
import { CAPACITY_BYTES } from "../../src/line_writer.ts";

function logEach(logger: Logger): void {
  logger.info("one");
  logger.warn("two");
  logger.error("three");
  logger.debug("four\n    at main.ts\n    at src");
}

/** Logs to a console, and returns the lines that it writes. */
async function linesOf(
  level: "DEBUG" | "INFO",
  style: LogStyle,
  log = logEach,
) {
  let text = "";
  const sink = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes);
    return Promise.resolve(bytes.length);
  };
  const { logger, flush } = createLogger(sink, level, style);
  log(logger);
  await flush();
  return text.split("\n").slice(0, -1);
}

const PLAIN = ["one", "WARN two", "ERROR three"];
const DEBUG = ["DEBUG four", "    at main.ts", "    at src"];

Deno.test("createLogger() writes records in order, with their level unless it is INFO", async () => {
  assertEquals(await linesOf("DEBUG", "plain"), [...PLAIN, ...DEBUG]);
});

Deno.test("createLogger() skips records below its level", async () => {
  assertEquals(await linesOf("INFO", "plain"), PLAIN);
});

Deno.test("createLogger() colors only warnings and errors", async () => {
  const [yellow, red, end] = ["\x1b[33m", "\x1b[31m", "\x1b[0m"];
  const colored = ["one", `${yellow}WARN two${end}`, `${red}ERROR three${end}`];
  assertEquals(await linesOf("DEBUG", "color"), [...colored, ...DEBUG]);
});

Deno.test("createLogger() prefixes each line of a record with its priority for the journal", async () => {
  assertEquals(await linesOf("DEBUG", "journal"), [
    "one",
    "<4>WARN two",
    "<3>ERROR three",
    "<7>DEBUG four",
    "<7>    at main.ts",
    "<7>    at src",
  ]);
});

Deno.test("createLogger() counts the lines that it drops", async () => {
  const count = 2 * CAPACITY_BYTES / 1024;
  const lines = await linesOf("DEBUG", "plain", (logger) => {
    for (let i = 0; i < count; i++) logger.info("x".repeat(1023));
  });
  const dropped = count - (lines.length - 1);
  const warning =
    `WARN Log lines dropped because the output is too slow: ${dropped}`;
  assertEquals(lines.at(-1), warning);
});
