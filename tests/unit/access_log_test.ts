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

const LONG = "x".repeat(5000);

Deno.test("formatAccessLine() cuts a request that would make the line longer than 4 KiB", () => {
  const client = "2001:0db8:1111:2222:3333:4444:5555:6666";
  for (const request of [{ target: `/${LONG}` }, { method: LONG }]) {
    const line = formatAccessLine({ ...RECORD, client, ...request });
    assertEquals(line.length < 4 * 1024, true);
    assertEquals(line.length > 4000, true);
    assertMatch(line, /"(GET \/)?x+\\\.\.\. HTTP\/1\.1" 200 -$/);
  }
});

Deno.test("formatAccessLine() cuts no escape in two", () => {
  for (const escape of ["\\\\", '\\"', "\\xc3", "xx\\x0a"]) {
    for (let length = 3980; length < 4010; length++) {
      const target = `/${"x".repeat(length)}${escape.repeat(20)}`;
      const line = formatAccessLine({ ...RECORD, target });
      assertMatch(
        line,
        /"GET \/([^\\]|\\["\\]|\\x[0-9a-f]{2})+\\\.\.\. HTTP\/1\.1" 200 -$/,
      );
    }
  }
});

Deno.test("formatAccessLine() keeps a request that is just short enough", () => {
  const target = `/${"x".repeat(4000 - "GET /".length)}`;
  const line = formatAccessLine({ ...RECORD, target });
  assertEquals(line, formatAccessLine(RECORD).replace("/datasensor", target));
  const longer = formatAccessLine({ ...RECORD, target: `${target}x` });
  assertEquals(longer, line.replace(" HTTP", "\\... HTTP"));
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

/** The line that is logged for a target. */
function lineOf(target: string): string {
  const headers = new Headers();
  const request = { method: "GET", url: `http://b${target}`, headers };
  let line = "";
  const log = (text: string) => line = text;
  withAccessLog(() => new Response(), log, () => RECORD.timestamp)(
    request as Request,
    INFO,
  );
  return line;
}

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
  Deno.test(`withAccessLog() escapes ${JSON.stringify(target)}`, () => {
    const start = "192.0.2.7 - - [20/Nov/2026 17:14:56]";
    assertEquals(
      lineOf(target),
      `${start} "GET ${escaped} HTTP/1.1" 200 -`,
    );
  });
}

Deno.test("withAccessLog() escapes every character that is not printable ASCII", () => {
  for (let code = 0; code < 0x10000; code++) {
    const line = lineOf(`/${String.fromCharCode(code)}`);
    if (
      !/^[ -~]+$/.test(line) || line.match(/(?<!\\)"/g)?.length !== 2 ||
      line.split(" ").length !== 10
    ) {
      throw new Error(`U+${code.toString(16)} gives ${JSON.stringify(line)}`);
    }
  }
});

Deno.test("withAccessLog() cuts a long target behind a whole escape", () => {
  for (const character of ["x", '"', "°", "🌡"]) {
    const line = lineOf(`/${character.repeat(60_000)}`);
    assertEquals(line.length <= 4095, true);
    assertEquals(line.length > 3980, true);
    assertMatch(
      line,
      /"GET \/([^\\]|\\["\\]|\\x[0-9a-f]{2})+\\\.\.\. HTTP\/1\.1" 200 -$/,
    );
  }
});

Deno.test("withAccessLog() passes the response through and logs one line", () => {
  const response = new Response(null, { status: 204 });
  const { lines, answer } = logOf(() => response, "http://board/a?b=c");
  assertEquals(answer() === response, true);
  assertEquals(lines, [
    '192.0.2.7 - - [20/Nov/2026 17:14:56] "GET /a?b=c HTTP/1.1" 204 -',
  ]);
});

Deno.test("withAccessLog() asks for the client before, and for the time behind, each request", () => {
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
  }, "http://bad host^/a");
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

/** Tells the time at each instant with one and the same function. */
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

Deno.test("createTimestamp() is right across a second's end", () => {
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
