// The logger: which lines it writes for a record.

import { assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { createLogger, type LogStyle } from "../../src/logger.ts";
import { CAPACITY_BYTES } from "../../src/line_writer.ts";

function logEach(logger: Logger): void {
  logger.info("one");
  logger.warn("two");
  logger.error("three");
  logger.debug("four\n    at main.ts");
}

/** Logs to a console, and returns what it writes. */
async function write(style: LogStyle, log = logEach): Promise<string> {
  let text = "";
  const sink = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes);
    return Promise.resolve(bytes.length);
  };
  const { logger, flush } = createLogger(sink, "DEBUG", style);
  log(logger);
  await flush();
  return text;
}

const STYLES: Record<LogStyle, string> = {
  plain: "one\nWARN two\nERROR three\nDEBUG four\n    at main.ts\n",
  color: "one\n\x1b[33mWARN two\x1b[0m\n\x1b[31mERROR three\x1b[0m\n" +
    "DEBUG four\n    at main.ts\n",
  journal:
    "one\n<4>WARN two\n<3>ERROR three\n<7>DEBUG four\n<7>    at main.ts\n",
};

for (const [style, text] of Object.entries(STYLES)) {
  Deno.test(`createLogger() writes records in order in the style ${style}`, async () => {
    assertEquals(await write(style as LogStyle), text);
  });
}

Deno.test("createLogger() counts the lines that it drops", async () => {
  const count = 2 * CAPACITY_BYTES / 1024;
  const text = await write("plain", (logger) => {
    for (let i = 0; i < count; i++) logger.info("x".repeat(1023));
  });
  const lines = text.split("\n").slice(0, -1);
  const dropped = count - (lines.length - 1);
  const warning =
    `WARN Log lines dropped because the output is too slow: ${dropped}`;
  assertEquals(lines.at(-1), warning);
});
