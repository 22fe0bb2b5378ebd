// The access log: what a line contains, and that every request is logged.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { withAccessLog } from "../../../src/http/access_log.ts";
import { output } from "../../helpers/process.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";

const ACCESS_LOG = import.meta.resolve("../../../src/http/access_log.ts");

const TIME = "20/Nov/2026 17:14:56";
const LOCAL = "127.0.0.1";

/** Returns what is logged of a request that is answered with 204. */
function log(target?: string, method = "GET", client = LOCAL): string {
  let lines = "";
  const logger = createTestLogger((line) => lines += `${line}\n`);
  const response = new Response(null, { status: 204 });
  const handler = withAccessLog(() => response, logger, new TestClock());
  const request = new Request("http://board", { method });
  assert(handler(request, { client, target }) === response);
  return lines;
}

const line = (request: string, client = LOCAL) =>
  `${client} - - [${TIME}] "${request} HTTP/1.1" 204 -\n`;

Deno.test("withAccessLog() logs a line for a request, and a dash for an unknown target", () => {
  assertEquals(log("/datasensor", "BREW"), line("BREW /datasensor"));
  assertEquals(log(undefined), line("GET -"));
});

Deno.test("withAccessLog() shows IPv4-mapped IPv6 addresses as IPv4", () => {
  assertEquals(log("/", "GET", "::ffff:192.0.2.7"), line("GET /", "192.0.2.7"));
  const address = "2001:db8::ffff:1";
  assertEquals(log("/", "GET", address), line("GET /", address));
});

Deno.test("withAccessLog() escapes targets", () => {
  const targets = {
    '/\\" 200 -"': '/\\\\\\"\\x20200\\x20-\\"',
    "/\n127.0.0.1\x1b[31m\x7f": "/\\x0a127.0.0.1\\x1b[31m\\x7f",
    "/\x85é€🌡": "/\\xc2\\x85\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x8c\\xa1",
    "/!#$%&'()*+,-.:;<=>?@[]^_`{|}~": "/!#$%&'()*+,-.:;<=>?@[]^_`{|}~",
  };
  for (const [target, escaped] of Object.entries(targets)) {
    assertEquals(log(target), line(`GET ${escaped}`));
  }
});

Deno.test("withAccessLog() truncates targets and methods after 1000 characters", () => {
  const target = "/".padEnd(1000, "x");
  assertEquals(log(target), line(`GET ${target}`));
  assertEquals(log(`${target}x`), line(`GET ${target}\\...`));
  assertMatch(log("/ ".padEnd(1000, "x")), /xxx HTTP/);
  const method = "x".repeat(1000);
  assertEquals(log("/", `${method}x`), line(`${method}\\... /`));
});

/** Instants, in this order, and what they are in Germany. */
const TIMES = {
  "1970-01-01T00:00:00.5Z": "01/Jan/1970 01:00:00", // without a battery
  "1969-12-31T23:59:59.5Z": "01/Jan/1970 00:59:59",
  "2026-01-02T03:04:05.999Z": "02/Jan/2026 04:04:05",
  "2026-01-02T03:04:06.000Z": "02/Jan/2026 04:04:06",
  "2026-03-29T00:59:59.999Z": "29/Mar/2026 01:59:59",
  "2026-03-29T01:00:00.000Z": "29/Mar/2026 03:00:00",
};

Deno.test("createTimestamp() follows a clock that jumps, and daylight saving time", async () => {
  // In a process of its own, since a time zone is one of the whole process
  const code = `import { createTimestamp } from "${ACCESS_LOG}";
    let now = 0;
    const timestamp = createTimestamp({ wallTime: () => now });
    for (const instant of ${JSON.stringify(Object.keys(TIMES))}) {
      now = Date.parse(instant);
      console.log(timestamp());
    }`;
  const options = { env: { TZ: "Europe/Berlin" } };
  const ended = await output(Deno.execPath(), ["eval", code], options);
  const expected = Object.values(TIMES).map((text) => `${text}\n`);
  assertEquals(ended.stdout, expected.join(""), ended.stderr);
});
