// A browser shows the page that draws the readings of a board.

import { assertEquals, assertMatch } from "@std/assert";
import { renderGraph } from "./chromium.ts";
import { renderHistory } from "./picture.ts";
import { missingAddress, needs } from "../helpers/needs.ts";
import { Program } from "../helpers/program.ts";

const NEEDED = needs({ commands: ["chromium"] });

/** What the page shows. */
interface Shown {
  text: string;
  figures: [name: string, value: string][];
  /** How many lines the first graph consists of, which gaps separate. */
  lines: number;
}

/** Returns what is in the page's document. */
function read(document: string): Shown {
  const body = document.split("<form>")[1]!.split("<script")[0]!;
  const [, text = ""] = body.match(/<p[^>]*>(.*?)<\/p>/s) ?? [];
  const figures = body.matchAll(/<span>([^<]*)<\/span><b>([^<]*)<\/b>/g);
  const [path = ""] = body.match(/<path[^>]*>/) ?? [];
  return {
    text,
    figures: Array.from(figures, ([, name, value]) => [name!, value!]),
    lines: path.split("M").length - 1,
  };
}

/** Returns what the page shows of a board, perhaps with other responses than its own. */
async function show(
  board: string,
  seconds = 1,
  fetch?: string,
): Promise<Shown> {
  return read(await renderGraph(board, seconds, fetch));
}

Deno.test(
  "graph.html shows the reading and its age, or why there is none",
  NEEDED,
  async () => {
    await using program = await Program.start(["--stdin", "--json", "--cors"], {
      hasInput: true,
    });
    const host = `127.0.0.1:${program.port}`;
    assertMatch((await show(host)).text, /^No current reading: The sensor has/);
    const reading = '{"model":"Acurite-Tower","t":-21.5,"attic":{"t":20}}';
    await program.write(`${reading}\n`);
    await program.waitForAnswer(reading);
    const { text, figures } = await show(host);
    assertMatch(text, /^\d+ s old$/);
    const values = [["model", "Acurite-Tower"], ["t", "-21.5"]];
    assertEquals(figures, [...values, ["attic › t", "20"]]);
    await program.stop();
    const down = await show(host);
    assertMatch(
      down.text,
      RegExp(`^http://${host}/datasensor does not answer`),
    );
    assertEquals(down.figures, []);
  },
);

Deno.test(
  "graph.html computes the age from the board's clock",
  NEEDED,
  async () => {
    const headers = {
      "date": "Fri, 20 Nov 2026 17:14:56 GMT",
      "last-modified": "Fri, 20 Nov 2026 17:14:14 GMT",
    };
    const init = JSON.stringify({ headers });
    const { text } = await show("board", 1, `new Response("21.5", ${init})`);
    assertEquals(text, "42 s old");
  },
);

Deno.test(
  "graph.html leaves a gap where there is no reading",
  NEEDED,
  async () => {
    const status = "Math.round(performance.now() / 2000) === 2 ? 503 : 200";
    const fetch = `Response.json(7, { status: ${status} })`;
    const { figures, lines } = await show("board", 11, fetch);
    assertEquals([figures, lines], [[["", "7"]], 2]);
  },
);

Deno.test("graph.html draws five minutes", NEEDED, async () => {
  const document = await renderHistory();
  assertMatch(document, /<small><span>5 min ago<\/span>/);
  const { figures, lines } = read(document);
  assertEquals(figures.map(([name]) => name), ["temperature_C", "humidity"]);
  assertEquals(lines, 1);
});

const TOO_MANY = /only 100 of its values are shown$/;
const NONE = /answers without a reading: /;

/** Readings of up to 64 KiB that would occupy the browser, and what it shows. */
const HOSTILE: [what: string, body: string, figures: number, text: RegExp][] = [
  ["many numbers", "`[${Array(32_761).fill(1)}]`", 100, TOO_MANY],
  [
    "many keys that never repeat",
    `JSON.stringify(Object.fromEntries(Array.from(
      { length: 2000 },
      (_, index) => [Math.round(performance.now()) + "-" + index, 1]
    )))`,
    100,
    TOO_MANY,
  ],
  ["arrays", '"[".repeat(30_000) + "]".repeat(30_000)', 1, /^Its age is unkn/],
  ["no JSON", '"[".repeat(30_000)', 0, NONE],
  ["an empty body", '""', 0, NONE],
  [
    "a long error",
    'JSON.stringify({ detail: "x".repeat(60_000) }), { status: 503 }',
    0,
    /^No current reading: x{200}…$/,
  ],
  [
    "an endless body",
    `new ReadableStream({
      pull: (it) => it.enqueue(new Uint8Array(65_536).fill(0x31))
    })`,
    0,
    /answers without a reading: more than 65536 characters$/,
  ],
];

for (const [what, body, count, shown] of HOSTILE) {
  Deno.test(
    `graph.html draws at most a hundred figures of ${what}`,
    NEEDED,
    async () => {
      const fetch = `new Response(${body})`;
      const { text, figures } = await show("board", 41, fetch); // 20 readings
      assertEquals(figures.length, count);
      assertMatch(text, shown);
    },
  );
}

Deno.test("graph.html follows no redirect", NEEDED, async () => {
  const headers = { "access-control-allow-origin": "*", location: "/other" };
  await using board = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) =>
      url.endsWith("/other")
        ? new Response("21.5", { headers })
        : new Response(null, { status: 302, headers }),
  );
  const { text } = await show(`127.0.0.1:${board.addr.port}`);
  assertMatch(text, /does not answer/);
});

Deno.test(
  "graph.html reads the URL that is typed or pasted, or says which one it tried",
  needs({ commands: ["chromium"], missing: [missingAddress("::1")] }),
  async () => {
    await using program = await Program.start(["--cors", "--host", "::"]);
    const { port } = program;
    const typed = [
      ` http://127.0.0.1:${port}/datasensor `,
      `LOCALHOST:${port}`,
      `HTTP://[::1]:${port}/datasensor?x`,
    ];
    for (const board of typed) {
      const { figures } = await show(board);
      assertEquals(figures, [["", "Sensor data"]], board);
    }
    const failed = `{ throw new TypeError("Failed to fetch"); }`;
    const urls = {
      "::1": "http://[::1]:5000/datasensor",
      "http://2001:db8::7/": "http://[2001:db8::7]:5000/datasensor",
      "https://localhost": "https://localhost/datasensor",
    };
    for (const [board, url] of Object.entries(urls)) {
      const { text } = await show(board, 1, failed);
      assertEquals(text.split(" does not ")[0], url);
    }
  },
);
