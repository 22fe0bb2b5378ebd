import { assertEquals, assertMatch } from "@std/assert";
import { withAccessLog } from "../src/access_log.ts";
import { createConsole } from "../src/console.ts";
import { runServer } from "../src/server.ts";

const CONFIG = {
  hostname: "127.0.0.1",
  port: 0,
  message: "Sensor data",
  debug: true,
};

/** Runs a server around a handler that throws, and asks it once. */
async function fail(levelName: "DEBUG" | "INFO") {
  let printed = "";
  const decoder = new TextDecoder();
  const { logger, flush } = createConsole(
    (bytes) => {
      printed += decoder.decode(bytes);
      return Promise.resolve(bytes.length);
    },
    levelName,
    false,
  );
  const handler = withAccessLog(() => {
    throw new TypeError("The sensor is on fire");
  }, (line) => logger.info(line));
  const stop = new AbortController();
  const running = runServer(CONFIG, handler, logger, stop.signal);
  await flush();
  const [, origin] = printed.match(/Running on (\S+)/)!;
  const response = await fetch(`${origin}/datasensor`);
  const body = await response.json();
  stop.abort();
  await running;
  await flush();
  const lines = printed.split("CTRL+C to quit\n")[1]!.split("\n").slice(0, -1);
  return { response, body, lines };
}

Deno.test("runServer() tells a client nothing of a handler that throws", async () => {
  const { response, body } = await fail("DEBUG");
  assertEquals(response.status, 500);
  const type = response.headers.get("content-type");
  assertEquals(type, "application/problem+json");
  assertEquals(body, {
    type: "about:blank",
    title: "Internal Server Error",
    status: 500,
    detail: "The sensor data cannot be had at the moment",
  });
});

Deno.test("runServer() logs a handler that throws, its stack in debug mode", async () => {
  const { lines } = await fail("DEBUG");
  assertMatch(
    lines[0]!,
    /^127\.0\.0\.1 - - .* "GET \/datasensor HTTP\/1\.1" 500 -$/,
  );
  assertEquals(lines.slice(1, 3), [
    "ERROR The handler failed: TypeError: The sensor is on fire",
    "DEBUG TypeError: The sensor is on fire",
  ]);
  assertMatch(lines[3]!, /^ {4}at .*server_test\.ts/);
});

Deno.test("runServer() logs a handler that throws without its stack otherwise", async () => {
  const { lines } = await fail("INFO");
  assertEquals(lines.slice(1), [
    "ERROR The handler failed: TypeError: The sensor is on fire",
  ]);
});
