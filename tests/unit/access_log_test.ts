// The access log: what a line says, and that every request has one.

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
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

const INFO = {
  remoteAddr: { transport: "tcp", hostname: "192.0.2.7", port: 50000 },
  completed: Promise.resolve(),
} as const;

Deno.test("formatAccessLine() formats a record", () => {
  assertEquals(
    formatAccessLine(RECORD),
    '127.0.0.1 - - [20/Nov/2026 17:14:56] "GET /datasensor HTTP/1.1" 200 -',
  );
});

Deno.test("formatAccessLine() shows IPv4 clients of a dual stack as IPv4", () => {
  const clients = {
    "::ffff:192.0.2.7": "192.0.2.7",
    "2001:db8::ffff:1": "2001:db8::ffff:1",
    "::1": "::1",
  };
  for (const [client, expected] of Object.entries(clients)) {
    const line = formatAccessLine({ ...RECORD, client });
    assertEquals(line.split(" ")[0], expected);
  }
});

const ESCAPED = {
  '/"': '/\\"',
  "/\\": "/\\\\",
  '/\\" 200 -': '/\\\\\\"\\x20200\\x20-',
  "/\n127.0.0.1": "/\\x0a127.0.0.1",
  "/\x00\x1b[31m\x7f": "/\\x00\\x1b[31m\\x7f",
  "/\x85\x9b": "/\\xc2\\x85\\xc2\\x9b",
  "/é€🌡": "/\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x8c\\xa1",
  "/\u2028\u202e": "/\\xe2\\x80\\xa8\\xe2\\x80\\xae",
  "/%0a%22": "/%0a%22",
  "/a\\...": "/a\\\\...",
  "/!#$&'()*+,-.:;<=>?@[]^_`{|}~": "/!#$&'()*+,-.:;<=>?@[]^_`{|}~",
};

for (const [target, escaped] of Object.entries(ESCAPED)) {
  Deno.test(`formatAccessLine() escapes ${JSON.stringify(target)}`, () => {
    const line = formatAccessLine({ ...RECORD, target });
    const [before, after] = formatAccessLine(RECORD).split("/datasensor");
    assertEquals(line, `${before}${escaped}${after}`);
  });
}

Deno.test("formatAccessLine() escapes every character that is not printable ASCII", () => {
  for (let code = 0; code < 0x10000; code++) {
    const target = `/${String.fromCharCode(code)}`;
    const line = formatAccessLine({ ...RECORD, target });
    if (
      !/^[ -~]+$/.test(line) || line.match(/(?<!\\)"/g)?.length !== 2 ||
      line.split(" ").length !== 10
    ) {
      throw new Error(`U+${code.toString(16)} gives ${JSON.stringify(line)}`);
    }
  }
});

Deno.test("formatAccessLine() cuts a target or a method of more than 1000 characters", () => {
  const target = `/${"x".repeat(999)}`;
  const line = formatAccessLine({ ...RECORD, target });
  assertEquals(line, formatAccessLine(RECORD).replace("/datasensor", target));
  const longer = formatAccessLine({ ...RECORD, target: `${target}x` });
  assertEquals(longer, line.replace(" HTTP", "\\... HTTP"));
  const method = formatAccessLine({ ...RECORD, method: "X".repeat(1001) });
  assertMatch(method, / "X{1000}\\\.\.\. \/datasensor HTTP\/1\.1" 200 -$/);
});

Deno.test("formatAccessLine() keeps the longest line in one entry of the journal", () => {
  // journald splits lines of 48 KiB
  const target = "\u2028".repeat(60_000);
  const line = formatAccessLine({ ...RECORD, target });
  assertEquals(line.length < 48 * 1024, true);
  assertMatch(line, /"GET (\\x[0-9a-f]{2})+\\\.\.\. HTTP\/1\.1" 200 -$/);
});

Deno.test("formatAccessLine() writes a dash for an unknown target", () => {
  const line = formatAccessLine({ ...RECORD, target: undefined });
  assertEquals(line, formatAccessLine(RECORD).replace("/datasensor", "-"));
});

function logOf(handler: (request: Request) => Response, url: string) {
  const lines: string[] = [];
  const logged = withAccessLog(
    handler,
    (line) => lines.push(line),
    () => RECORD.timestamp,
  );
  return {
    lines,
    answer: () => logged({ method: "GET", url } as Request, INFO),
  };
}

Deno.test("withAccessLog() passes the response through and logs one line", () => {
  const response = new Response(null, { status: 204 });
  const { lines, answer } = logOf(() => response, "http://board/a?b=c");
  assertEquals(answer() === response, true);
  assertEquals(lines, [
    '192.0.2.7 - - [20/Nov/2026 17:14:56] "GET /a?b=c HTTP/1.1" 204 -',
  ]);
});

Deno.test("withAccessLog() reads the client before the handler runs, and the time after it", () => {
  const asked: string[] = [];
  const logged = withAccessLog(
    () => {
      asked.push("handler");
      return new Response();
    },
    () => {},
    () => String(asked.push("time")),
  );
  const info = {
    get remoteAddr() {
      asked.push("client");
      return INFO.remoteAddr;
    },
    completed: INFO.completed,
  };
  for (const url of ["http://board/a", "http://board/a"]) {
    logged({ method: "GET", url } as Request, info);
  }
  const order = ["client", "handler", "time"];
  assertEquals(asked, [...order, ...order]);
});

Deno.test("withAccessLog() logs a handler that throws as 500", () => {
  const { lines, answer } = logOf(() => {
    throw new TypeError("The sensor is on fire");
  }, "http://board/a");
  assertThrows(answer, TypeError, "The sensor is on fire");
  assertEquals(lines, [
    '192.0.2.7 - - [20/Nov/2026 17:14:56] "GET /a HTTP/1.1" 500 -',
  ]);
});

/** Runs with another time zone. */
function inZone(zone: string, run: () => void): void {
  const before = Deno.env.get("TZ");
  Deno.env.set("TZ", zone);
  try {
    run();
  } finally {
    if (before === undefined) Deno.env.delete("TZ");
    else Deno.env.set("TZ", before);
  }
}

/** Returns the timestamps of instants, all from one function. */
function timesAt(...instants: string[]): string[] {
  let now = 0;
  const timestamp = createTimestamp(() => now);
  return instants.map((instant) => {
    now = Date.parse(instant);
    return timestamp();
  });
}

Deno.test("createTimestamp() pads and names the months in English", () => {
  inZone("UTC", () => {
    assertEquals(
      timesAt("2026-01-02T03:04:05Z", "2027-12-31T23:59:59.999Z"),
      ["02/Jan/2026 03:04:05", "31/Dec/2027 23:59:59"],
    );
  });
});

Deno.test("createTimestamp() changes with the second", () => {
  inZone("UTC", () => {
    assertEquals(
      timesAt(
        "2026-11-20T17:14:56.000Z",
        "2026-11-20T17:14:56.999Z",
        "2026-11-20T17:14:57.000Z",
      ),
      ["20/Nov/2026 17:14:56", "20/Nov/2026 17:14:56", "20/Nov/2026 17:14:57"],
    );
  });
});

Deno.test("createTimestamp() follows a clock that jumps", () => {
  inZone("UTC", () => {
    assertEquals(
      timesAt(
        "1970-01-01T00:00:00.5Z", // a board without a clock's battery
        "1969-12-31T23:59:59.5Z",
        "2026-11-20T17:14:56.5Z",
        "2026-11-20T17:14:55.9Z",
      ),
      [
        "01/Jan/1970 00:00:00",
        "31/Dec/1969 23:59:59",
        "20/Nov/2026 17:14:56",
        "20/Nov/2026 17:14:55",
      ],
    );
  });
});

Deno.test("createTimestamp() follows a change of the time zone's offset", () => {
  inZone("Europe/Berlin", () => {
    assertEquals(
      timesAt("2026-10-25T00:59:59.999Z", "2026-10-25T01:00:00.000Z"),
      ["25/Oct/2026 02:59:59", "25/Oct/2026 02:00:00"],
    );
    assertEquals(
      timesAt("2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00.000Z"),
      ["29/Mar/2026 01:59:59", "29/Mar/2026 03:00:00"],
    );
  });
});
