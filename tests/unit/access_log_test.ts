// The access log: what a line contains, and that every request is logged.

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  createTimestamp,
  formatAccessLine,
  withAccessLog,
} from "../../src/access_log.ts";

const RECORD = {
  client: "127.0.0.1",
  timestamp: "20/Nov/2026 17:14:56",
  method: "GET",
  target: "/datasensor",
  status: 200,
};

/** Formats a method and a target, and checks the surrounding text. */
function formatRequest(target?: string, method = "GET"): string {
  const line = formatAccessLine({ ...RECORD, method, target });
  const [start, end] = formatAccessLine(RECORD).split("GET /datasensor");
  const request = line.slice(start!.length, -end!.length);
  assertEquals(line, `${start}${request}${end}`);
  return request;
}

Deno.test("formatAccessLine() formats a record, with a dash for an unknown target", () => {
  assertEquals(
    formatAccessLine(RECORD),
    '127.0.0.1 - - [20/Nov/2026 17:14:56] "GET /datasensor HTTP/1.1" 200 -',
  );
  assertEquals(formatRequest(undefined), "GET -");
});

Deno.test("formatAccessLine() shows IPv4-mapped IPv6 addresses as IPv4", () => {
  const show = (client: string) =>
    formatAccessLine({ ...RECORD, client }).split(" ", 1)[0];
  assertEquals(show("::ffff:192.0.2.7"), "192.0.2.7");
  assertEquals(show("2001:db8::ffff:1"), "2001:db8::ffff:1");
});

Deno.test("formatAccessLine() escapes targets", () => {
  const targets = {
    '/\\" 200 -"': '/\\\\\\"\\x20200\\x20-\\"',
    "/\n127.0.0.1\x1b[31m\x7f": "/\\x0a127.0.0.1\\x1b[31m\\x7f",
    "/\x85é€🌡": "/\\xc2\\x85\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x8c\\xa1",
    "/%0a%22": "/%0a%22",
    "/a\\...": "/a\\\\...",
    "/!#$&'()*+,-.:;<=>?@[]^_`{|}~": "/!#$&'()*+,-.:;<=>?@[]^_`{|}~",
  };
  for (const [target, escaped] of Object.entries(targets)) {
    assertEquals(formatRequest(target), `GET ${escaped}`);
  }
});

Deno.test("formatAccessLine() escapes every character that is not printable ASCII", () => {
  for (let code = 0; code < 0x10000; code++) {
    const request = formatRequest(`/${String.fromCharCode(code)}`);
    const name = `U+${code.toString(16)}`;
    assertMatch(request, /^GET \/([!#-[\]-~]|\\["\\]|(\\x..){1,3})$/, name);
  }
});

Deno.test("formatAccessLine() cuts targets and methods after 1000 characters", () => {
  const target = "/".padEnd(1000, "x");
  assertEquals(formatRequest(target), `GET ${target}`);
  assertEquals(formatRequest(`${target}x`), `GET ${target}\\...`);
  assertEquals(formatRequest(`${target} `), `GET ${target}\\...`);
  assertMatch(formatRequest("/ ".padEnd(1000, "x")), /xxx$/);
  assertEquals(formatRequest("/", `${target}x`), `${target}\\... /`);
});

/** Sends a request to a logged handler, and records the order of events. */
function observe(respond: () => Response) {
  const events: string[] = [];
  const note = <T>(event: string, result: () => T) => () => {
    events.push(event);
    return result();
  };
  const logged = withAccessLog(
    note("handler", respond),
    (line) => events.push(line),
    note("time", () => RECORD.timestamp),
  );
  const request = { method: "GET" } as Request;
  return { events, send: () => logged(request, "/a?b=c", "192.0.2.7") };
}

const ORDER = ["handler", "time"];
const LINE = '192.0.2.7 - - [20/Nov/2026 17:14:56] "GET /a?b=c HTTP/1.1"';

Deno.test("withAccessLog() returns the response and logs one line", () => {
  const response = new Response(null, { status: 204 });
  const { events, send } = observe(() => response);
  assert(send() === response);
  assertEquals(events, [...ORDER, `${LINE} 204 -`]);
});

Deno.test("withAccessLog() logs 500 if the handler throws", () => {
  const { events, send } = observe(() => {
    throw new TypeError("The sensor is on fire");
  });
  assertThrows(send, TypeError, "The sensor is on fire");
  assertEquals(events, [...ORDER, `${LINE} 500 -`]);
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
