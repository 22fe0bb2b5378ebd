// HTTP/2, which Deno.serve speaks to every client that begins with it: by
// nghttp2's client, and as bytes.

import { assertEquals, assertMatch } from "@std/assert";
import {
  concat,
  encodeFields,
  type Field,
  frame,
  Http2Connection,
  request,
  TYPE,
  WHOLE,
} from "../helpers/http2.ts";
import {
  countDescriptors,
  lacksCommand,
  lacksFile,
  testUnless,
} from "../helpers/machine.ts";
import { exchange } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

/** What every line must look like, whoever asked. */
const LINE =
  /^127\.0\.0\.1 - - \[[^\]]{20}\] "[!#-'*+.^_`|~\w-]+ ([!#-[\]-~]|\\["\\]|\\x[0-9a-f]{2})+(\\\.{3})? HTTP\/1\.1" (200|204|400|404|405) -$/;

testUnless(await lacksCommand("nghttp"), "nghttp reads the data", async () => {
  await using program = await Program.start();
  const urls = [program.url, `${program.url}?x=1`];
  const { stdout } = await output("nghttp", urls);
  assertEquals(stdout, '"Sensor data""Sensor data"');
  const lines = await program.waitForLines(2);
  assertEquals(lines.map((line) => line.split("] ")[1]), [
    '"GET /datasensor HTTP/1.1" 200 -',
    '"GET /datasensor?x=1 HTTP/1.1" 200 -',
  ]);
});

testUnless(
  await lacksCommand("h2load"),
  "the program logs each HTTP/2 request of h2load",
  async () => {
    await using program = await Program.start();
    const args = ["-n", "10000", "-c", "20", "-m", "50", program.url];
    const { stdout } = await output("h2load", args);
    assertMatch(stdout, /status codes: 10000 2xx/);
    await program.stop();
    assertEquals(program.lines.length, 10_000);
    for (const line of program.lines) assertMatch(line, LINE);
  },
);

// How h2 and hyper, below Deno.serve, refuse what is no request
const STREAM_ERROR = "stream error 1"; // PROTOCOL_ERROR
const CONNECTION_ERROR = "connection error 1";

const AUTHORITY: Field = [":authority", "board"];

/** A request, the answer to it, and of its line what the client chose. */
const REQUESTS: [fields: Field[], answer: number | string, logged?: string][] =
  [
    [request("/datasensor"), 200, "GET /datasensor"],
    [request("/datasensor?"), 200, "GET /datasensor?"],
    [request("/datasensor?x=1#y"), 200, "GET /datasensor?x=1"],
    [request("/datasensor#y"), 200, "GET /datasensor"],
    [request("/%64atasensor"), 200, "GET /%64atasensor"],
    [request("datasensor"), 200, "GET /datasensor"],
    [request("//datasensor"), 404, "GET //datasensor"],
    [request("//x/datasensor"), 404, "GET //x/datasensor"],
    [request("?x"), 404, "GET /?x"],
    [request("http://x/datasensor"), 404, "GET /http://x/datasensor"],
    [request("*", "OPTIONS"), 404, "OPTIONS /*"],
    [request('/"\\'), 404, 'GET /\\"\\\\'],
    [request("/%0a127.0.0.1"), 404, "GET /%0a127.0.0.1"],
    [request("/\xc2\x9b31m\x7f"), 404, "GET /\\xc2\\x9b31m\\x7f"],
    [request("/\xc3\xa9"), 404, "GET /\\xc3\\xa9"],
    [request("/\xff"), CONNECTION_ERROR],
    [request("/a b"), STREAM_ERROR],
    [request("/\x1b[31m"), STREAM_ERROR],
    [request("/\n127.0.0.1"), STREAM_ERROR],
    [request(""), STREAM_ERROR],

    [request("/datasensor", "HEAD"), 200, "HEAD /datasensor"],
    [request("/datasensor", "OPTIONS"), 204, "OPTIONS /datasensor"],
    [request("/datasensor", "get"), 405, "get /datasensor"],
    [request("/datasensor", "BREW"), 405, "BREW /datasensor"],
    [request("/datasensor", "G T"), CONNECTION_ERROR],
    [request("/datasensor", 'GET"'), CONNECTION_ERROR],
    [request("/datasensor", ""), CONNECTION_ERROR],
    [request("/datasensor", "CONNECT"), STREAM_ERROR],
    [[[":method", "CONNECT"], AUTHORITY], 404, "CONNECT /"],
    [[[":method", "CONNECT"]], 400],
    [[[":method", "GET"], AUTHORITY], STREAM_ERROR],
    [[AUTHORITY], STREAM_ERROR],
    [[], STREAM_ERROR],

    [request().slice(0, 3), 200, "GET /datasensor"],
    [request("/datasensor", "GET", ["host", "a"]), 200, "GET /datasensor"],
    [
      request("/datasensor", "GET", AUTHORITY, ["host", "other"]),
      200,
      "GET /datasensor",
    ],
    [request("/x", "GET", [":authority", "a/datasensor?"]), STREAM_ERROR],
    [request("/x", "GET", [":authority", "a b"]), STREAM_ERROR],
    [request("/x", "GET", [":authority", ""]), STREAM_ERROR],
    [request("/x", "GET", AUTHORITY, AUTHORITY), STREAM_ERROR],
    [request("/x", "GET", [":authority", "user@a"]), 400, "GET -"],
    [request("/x", "GET", ["host", "a/datasensor?"]), 400, "GET -"],
    [request("/x", "GET", ["host", "a b"]), 400, "GET -"],
    [request("/x", "GET", ["host", "a, b/datasensor?"]), 400, "GET -"],
    [request("/x", "GET", ["host", ", /datasensor?"]), 400, "GET -"],
    [request("/a/b", "GET", ["host", "a"], ["host", "b"]), 400, "GET -"],
    [
      request("/datasensor?x=/", "GET", [":authority", "a:80"], ["host", "a"]),
      200,
      "GET /datasensor?x=/",
    ],
    [request("*", "GET", AUTHORITY), 404, "GET /"],
  ];

Deno.test("the program answers and logs odd HTTP/2 requests as those of HTTP/1", async () => {
  await using program = await Program.start();
  for (const [fields, expected] of REQUESTS) {
    using connection = await Http2Connection.open(program.port);
    await connection.request(1, fields);
    const answer = await connection.answer(1);
    assertEquals(answer, expected, JSON.stringify(fields));
  }
  await program.stop();
  assertEquals(
    program.lines.map((line) => line.split("] ")[1]),
    REQUESTS.filter(([, , logged]) => logged !== undefined).map(
      ([, answer, logged]) => `"${logged} HTTP/1.1" ${answer} -`,
    ),
  );
  for (const line of program.lines) assertMatch(line, LINE);
  assertEquals(program.stderr, "");
});

/** What hostile connections send. */
interface Attack {
  settings?: [id: number, value: number][];
  /** Sent again and again, with the number of the time. */
  round(round: number): Uint8Array;
  rounds: number;
}

/** Repeats frames a hundred times, with the number of the stream. */
function hundredfold(
  make: (stream: number) => Uint8Array[],
  round = 0,
): Uint8Array<ArrayBuffer> {
  return concat(
    Array.from({ length: 100 }, (_, i) => make(200 * round + 2 * i + 1)).flat(),
  );
}

const GET = encodeFields(request());
const POST = encodeFields(request("/datasensor", "POST"));
const LONG = encodeFields([["x", "y".repeat(16_000)]]);
const NO_FLAGS = 0;
const END_HEADERS = 4;
const CANCEL = [0, 0, 0, 8];

const CONTINUATIONS = hundredfold(() => [
  frame(TYPE.CONTINUATION, NO_FLAGS, 1),
]);
const SETTINGS = hundredfold(() => [frame(TYPE.SETTINGS, NO_FLAGS, 0)]);
const PINGS = hundredfold(() => [
  frame(TYPE.PING, NO_FLAGS, 0, new Uint8Array(8)),
]);
const DATA = hundredfold(() => [frame(TYPE.DATA, NO_FLAGS, 1)]);

const ATTACKS: Record<string, Attack> = {
  "reset their streams": {
    round: (round) =>
      hundredfold((stream) => [
        frame(TYPE.HEADERS, WHOLE, stream, GET),
        frame(TYPE.RST_STREAM, NO_FLAGS, stream, CANCEL),
      ], round),
    rounds: 100,
  },
  "never end a header": {
    round: (round) =>
      round === 0
        ? frame(TYPE.HEADERS, NO_FLAGS, 1, GET)
        : frame(TYPE.CONTINUATION, NO_FLAGS, 1, LONG),
    rounds: 100,
  },
  "continue a header with nothing": {
    round: (round) =>
      round === 0 ? frame(TYPE.HEADERS, NO_FLAGS, 1, GET) : CONTINUATIONS,
    rounds: 100,
  },
  "send SETTINGS without end": { round: () => SETTINGS, rounds: 100 },
  "send PINGs without end": { round: () => PINGS, rounds: 100 },
  "send bodies of nothing without end": {
    round: (round) =>
      round === 0 ? frame(TYPE.HEADERS, END_HEADERS, 1, POST) : DATA,
    rounds: 100,
  },
  "never end their requests": {
    round: (round) =>
      hundredfold(
        (stream) => [frame(TYPE.HEADERS, END_HEADERS, stream, POST)],
        round,
      ),
    rounds: 2,
  },
  "take no data": {
    settings: [[0x4, 0]], // INITIAL_WINDOW_SIZE
    round: (round) =>
      hundredfold(
        (stream) => [frame(TYPE.HEADERS, WHOLE, stream, GET)],
        round,
      ),
    rounds: 2,
  },
};

/** How many hostile connections there are at a time. */
const HOSTILE = 20;

/** An attack under way. */
class Attackers implements Disposable {
  readonly #connections = new DisposableStack();

  /** Opens the connections, and waits until each has begun. */
  static async begin(
    port: number,
    { settings = [], round, rounds }: Attack,
  ): Promise<Attackers> {
    const attackers = new Attackers();
    const open = async (_: unknown, index: number) => {
      const connection = attackers.#connections.use(
        await Http2Connection.open(port, ...settings),
      );
      await connection.send(round(0));
      // Every other one does not read what it is sent
      if (index % 2 === 0) connection.answer(0).catch(() => {});
      const goOn = async () => {
        for (let i = 1; i < rounds; i++) await connection.send(round(i));
      };
      goOn().catch(() => {}); // closed by the server, or by dispose()
    };
    await Promise.all(Array.from({ length: HOSTILE }, open));
    return attackers;
  }

  [Symbol.dispose](): void {
    this.#connections.dispose();
  }
}

/** Asks over a connection of its own; the line will have the id. */
async function ask(port: number, id: string): Promise<void> {
  const response = await exchange(
    port,
    `GET /datasensor?id=${id} HTTP/1.1\r\nHost: board\r\n` +
      "Connection: close\r\n\r\n",
  );
  assertMatch(response, /^HTTP\/1\.1 200 [^]*\r\n\r\n"Sensor data"$/);
}

for (const [kind, attack] of Object.entries(ATTACKS)) {
  testUnless(
    await lacksFile("/proc"), // where descriptors are counted
    `the program answers and stops while HTTP/2 connections ${kind}`,
    async () => {
      await using program = await Program.start();
      const { port, pid } = program;
      const ids = Array.from({ length: 20 }, (_, index) => `<${index}>`);
      const before = await countDescriptors(pid);
      {
        using _attackers = await Attackers.begin(port, attack);
        for (const id of ids) await ask(port, id);
        using other = await Http2Connection.open(port);
        await other.request(1, request());
        assertEquals(await other.answer(1), 200);
      }
      await program.waitFor(async () => await countDescriptors(pid) <= before);
      using _attackers = await Attackers.begin(port, attack);
      await ask(port, "<last>");
      assertEquals((await program.stop()).code, 0);
      const logged = program.lines.map((line) =>
        line.match(/\?id=(<\w+>) /)?.[1]
      )
        .filter((id) => id !== undefined);
      assertEquals(logged, [...ids, "<last>"]);
      for (const line of program.lines) assertMatch(line, LINE);
      assertEquals(program.stderr, "");
    },
  );
}
