// The logger: what becomes of a record.

import { assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { createConsole, type Style } from "../../src/console.ts";
import { CAPACITY } from "../../src/line_writer.ts";

/** Prints with a console, and returns what it printed. */
async function printed(
  print: (logger: Logger) => void,
  level: "DEBUG" | "INFO" = "DEBUG",
  style: Style = "plain",
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const sink = (bytes: Uint8Array) => {
    text += decoder.decode(bytes);
    return Promise.resolve(bytes.length);
  };
  const { logger, flush } = createConsole(sink, level, style);
  print(logger);
  await flush();
  return text;
}

function printAll(logger: Logger): void {
  logger.info("one");
  logger.warn("two");
  logger.error("three");
  logger.debug("four");
}

Deno.test("createConsole() writes lines in order, with their level unless it is INFO", async () => {
  const text = "one\nWARN two\nERROR three\nDEBUG four\n";
  assertEquals(await printed(printAll), text);
});

Deno.test("createConsole() colours only warnings and errors", async () => {
  assertEquals(
    await printed(printAll, "DEBUG", "color"),
    "one\n\x1b[33mWARN two\x1b[0m\n\x1b[31mERROR three\x1b[0m\nDEBUG four\n",
  );
});

Deno.test("createConsole() prefixes each line of a record with its priority for the journal", async () => {
  const text = await printed(
    (logger) => {
      printAll(logger);
      logger.debug("Error\n    at main.ts");
    },
    "DEBUG",
    "journal",
  );
  assertEquals(text.split("\n"), [
    "one",
    "<4>WARN two",
    "<3>ERROR three",
    "<7>DEBUG four",
    "<7>DEBUG Error",
    "<7>    at main.ts",
    "",
  ]);
});

Deno.test("createConsole() skips records below its level", async () => {
  assertEquals(
    await printed(printAll, "INFO"),
    "one\nWARN two\nERROR three\n",
  );
});

Deno.test("createConsole() counts the lines that it drops", async () => {
  const line = "x".repeat(1023);
  const count = 2 * CAPACITY / 1024;
  const text = await printed((logger) => {
    for (let i = 0; i < count; i++) logger.info(line);
  });
  const lines = text.split("\n").slice(0, -1);
  const [, dropped] = lines.pop()!.match(
    /^WARN Dropped (\d+) log lines: the output is too slow$/,
  )!;
  assertEquals(lines.length + Number(dropped), count);
});
