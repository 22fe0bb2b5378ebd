// The access log: what a line contains, and that every request is logged.

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Logger } from "@std/log/logger";
import {
  createTimestamp,
  withAccessLog,
} from "../../../src/http/access_log.ts";

const LOCAL = "127.0.0.1";
const GET = '127.0.0.1 - - [20/Nov/2026 17:14:56] "GET /datasensor HTTP/1.1"';

/** Creates a logged handler, and records the lines. */
function observe(respond = () => new Response()) {
  const lines: string[] = [];
  const logger = { info: (line: string) => lines.push(line) };
  const handler = withAccessLog(
    respond,
    logger as unknown as Logger,
    () => "20/Nov/2026 17:14:56",
  );
  const send = (target?: string, method = "GET", client = LOCAL) =>
    handler({ method } as Request, { client, target });
  return { lines, send };
}

/** Returns how a method and a target are logged. */
function logRequest(target?: string, method?: string): string {
  const { lines, send } = observe();
  send(target, method);
  return lines[0]!.match(/"(.*) HTTP\/1\.1" 200 -$/s)![1]!;
}

Deno.test("withAccessLog() returns the response and logs one line", () => {
  const response = new Response(null, { status: 204 });
  const { lines, send } = observe(() => response);
  assert(send("/datasensor") === response);
  assertEquals(lines, [`${GET} 204 -`]);
});

Deno.test("withAccessLog() logs a dash for an unknown target", () => {
  assertEquals(logRequest(undefined), "GET -");
});

Deno.test("withAccessLog() shows IPv4-mapped IPv6 addresses as IPv4", () => {
  for (const client of ["::ffff:192.0.2.7", "2001:db8::ffff:1"]) {
    const { lines, send } = observe();
    send("/datasensor", "GET", client);
    const address = client.replace(/^::ffff:/, "");
    assertEquals(lines[0], `${GET} 200 -`.replace(LOCAL, address));
  }
});

Deno.test("withAccessLog() escapes targets", () => {
  const targets = {
    '/\\" 200 -"': '/\\\\\\"\\x20200\\x20-\\"',
    "/\n127.0.0.1\x1b[31m\x7f": "/\\x0a127.0.0.1\\x1b[31m\\x7f",
    "/\x85é€🌡": "/\\xc2\\x85\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x8c\\xa1",
    "/%0a%22": "/%0a%22",
    "/a\\...": "/a\\\\...",
    "/!#$&'()*+,-.:;<=>?@[]^_`{|}~": "/!#$&'()*+,-.:;<=>?@[]^_`{|}~",
  };
  for (const [target, escaped] of Object.entries(targets)) {
    assertEquals(logRequest(target), `GET ${escaped}`);
  }
});

Deno.test("withAccessLog() truncates targets and methods after 1000 characters", () => {
  const target = "/".padEnd(1000, "x");
  assertEquals(logRequest(target), `GET ${target}`);
  assertEquals(logRequest(`${target}x`), `GET ${target}\\...`);
  assertEquals(logRequest(`${target} `), `GET ${target}\\...`);
  assertMatch(logRequest("/ ".padEnd(1000, "x")), /xxx$/);
  assertEquals(logRequest("/", `${target}x`), `${target}\\... /`);
});

/** A time zone, and the instants that one function formats in this order. */
const TIMES: [does: string, zone: string, times: Record<string, string>][] = [
  ["pads numbers and changes with the second", "UTC", {
    "2026-01-02T03:04:05.000Z": "02/Jan/2026 03:04:05",
    "2026-01-02T03:04:05.999Z": "02/Jan/2026 03:04:05",
    "2026-01-02T03:04:06.000Z": "02/Jan/2026 03:04:06",
  }],
  ["follows a clock that jumps", "UTC", {
    "1970-01-01T00:00:00.5Z": "01/Jan/1970 00:00:00", // without a battery
    "1969-12-31T23:59:59.5Z": "31/Dec/1969 23:59:59",
    "2026-11-20T17:14:56.5Z": "20/Nov/2026 17:14:56",
    "2026-11-20T17:14:55.9Z": "20/Nov/2026 17:14:55",
  }],
  ["follows daylight saving time", "Europe/Berlin", {
    "2026-03-29T00:59:59.999Z": "29/Mar/2026 01:59:59",
    "2026-03-29T01:00:00.000Z": "29/Mar/2026 03:00:00",
    "2026-10-25T00:59:59.999Z": "25/Oct/2026 02:59:59",
    "2026-10-25T01:00:00.000Z": "25/Oct/2026 02:00:00",
  }],
];

for (const [does, zone, times] of TIMES) {
  Deno.test(`createTimestamp() ${does}`, () => {
    const before = Deno.env.get("TZ");
    Deno.env.set("TZ", zone);
    try {
      let now = 0;
      const timestamp = createTimestamp(() => now);
      for (const [instant, text] of Object.entries(times)) {
        now = Date.parse(instant);
        assertEquals(timestamp(), text);
      }
    } finally {
      if (before === undefined) Deno.env.delete("TZ");
      else Deno.env.set("TZ", before);
    }
  });
}
