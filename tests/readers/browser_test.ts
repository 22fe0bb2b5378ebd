// What a browser shows of the service, and of the page with graphs.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

/** Defines a test, which is skipped where there is no browser. */
function test(name: string, run: () => Promise<void>): void {
  Deno.test(skipIf(missing("chromium"), name), run);
}

/**
 * Opens a page, and returns its document as it is after some seconds, which pass as fast
 * as the page permits.
 */
async function open(url: string, seconds = 1): Promise<string> {
  using folder = await Folder.create();
  const { code, stdout, stderr } = await output("chromium", [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    `--user-data-dir=${folder.path}`,
    `--virtual-time-budget=${seconds * 1000}`,
    "--dump-dom",
    url,
  ], { killGroup: true });
  assertEquals(code, 0, stderr);
  return stdout;
}

/** Opens a page until its document matches a pattern. */
async function openUntil(url: string, expected: RegExp): Promise<string> {
  const isExpected = (document: string) => expected.test(document);
  return await waitFor(`${expected}`, () => open(url), isExpected);
}

test("a browser shows the data in quotes", async () => {
  await using program = await Program.start();
  await openUntil(program.url, />"Sensor data"<\/pre>/);
});

/** Returns a page that shows what it can read, with and without a preflight. */
const createPage = (url: string) =>
  `<p></p><script type="module">
    const show = (text) => document.querySelector("p").textContent = text;
    try {
      const simple = await (await fetch("${url}")).json();
      const headers = { "x-custom": "1" };
      const preflighted = await (await fetch("${url}", { headers })).json();
      const missing = await fetch("${url}/");
      show([simple, preflighted, missing.status].join());
    } catch (error) {
      show("blocked");
    }
  </script>`;

for (
  const [can, flags, shown] of [
    ["cannot read the data", [], "blocked"],
    ["can read it with --cors", ["--cors"], "Sensor data,Sensor data,404"],
  ] as const
) {
  test(`a page of another origin ${can}`, async () => {
    await using program = await Program.start([...flags]);
    await using site = serve(() =>
      new Response(createPage(program.url), {
        headers: { "content-type": "text/html" },
      })
    );
    const url = `http://${addressOf(site)}/`;
    await openUntil(url, RegExp(`<p>${shown}</p>`));
    await program.waitForLines(1); // even a blocked page sends its request
  });
}

/** Serves what a board could answer. */
function serve(answer: () => Response): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
}

function addressOf({ addr }: Deno.HttpServer<Deno.NetAddr>): string {
  return `127.0.0.1:${addr.port}`;
}

/** What the page with graphs shows. */
interface Shown {
  text: string;
  figures: [name: string, value: string][];
  /** How many lines the first graph consists of, which gaps separate. */
  lines: number;
}

/** Opens the page with graphs for some seconds, and returns what it shows of a board. */
async function showGraph(board: string, seconds?: number): Promise<Shown> {
  const query = new URLSearchParams({ board });
  const page = await Deno.realPath("src/readers/graph.html");
  const url = `file://${page}?${query}`;
  const document = await waitFor(
    `an answer of ${board}`,
    () => open(url, seconds),
    (document) => !document.includes("<p>Type a board"),
  );
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

test("graph.html shows the reading and its age, or why there is none", async () => {
  const flags = ["--stdin", "--json", "--cors"];
  await using program = await Program.start(flags, { hasInput: true });
  const board = new URL(program.url).host;
  const none = await showGraph(board);
  assertMatch(none.text, /^No current reading: The sensor has/);
  const reading = '{"model":"Acurite-Tower","t":-21.5,"attic":{"t":20}}';
  await program.write(`${reading}\n`);
  await program.waitForAnswer(reading);
  const { text, figures } = await showGraph(` ${program.url} `); // as it is pasted
  assertMatch(text, /^\d+ s old$/);
  const values = [["model", "Acurite-Tower"], ["t", "-21.5"]];
  assertEquals(figures, [...values, ["attic › t", "20"]]);
  await program.stop();
  const down = await showGraph(board);
  assertMatch(down.text, RegExp(`^${program.url} does not answer`));
  assertEquals(down.figures, []);
});

const CORS = { "access-control-allow-origin": "*" };

test("graph.html leaves a gap where there is no reading", async () => {
  let requests = 0;
  await using board = serve(() => {
    const status = ++requests === 3 ? 503 : 200;
    return Response.json(7, { status, headers: CORS });
  });
  const isAsked = () => requests >= 6;
  const { figures, lines } = await waitFor("six requests", async () => {
    requests = 0;
    const shown = await showGraph(addressOf(board), 13);
    return isAsked() ? shown : undefined;
  }, Boolean) as Shown;
  assertEquals([figures, lines], [[["", "7"]], 2]);
});

const ELEMENT = "<img src=x onerror=alert(1)>";

/** What a hostile board could answer, and what the page shows of it. */
const HOSTILE: [
  what: string,
  answer: () => Response,
  text: RegExp,
  figures: number,
][] = [
  [
    "an element as an element",
    () => Response.json({ [ELEMENT]: ELEMENT }, { headers: CORS }),
    /^Its age is unknown$/,
    1, // the pattern of figures matches no element
  ],
  [
    "an element in an error as an element",
    () => Response.json({ detail: ELEMENT }, { status: 503, headers: CORS }),
    /^No current reading: &lt;img/,
    0,
  ],
  [
    "more than a hundred values",
    () => Response.json(Array(1000).fill(1), { headers: CORS }),
    /only 100 of its values are shown$/,
    100,
  ],
  [
    "an endless body",
    () => {
      const digits = new Uint8Array(65_536).fill(0x31);
      const body = new ReadableStream({ pull: (it) => it.enqueue(digits) });
      return new Response(body, { headers: CORS });
    },
    /answers without a reading: more than 65536 characters$/,
    0,
  ],
  [
    "what a redirect leads to",
    () =>
      new Response(null, { status: 302, headers: { ...CORS, location: "/" } }),
    /does not answer/,
    0,
  ],
];

for (const [what, answer, expected, count] of HOSTILE) {
  test(`graph.html does not show ${what}`, async () => {
    await using board = serve(answer);
    const { text, figures } = await showGraph(addressOf(board));
    assertMatch(text, expected);
    assertEquals(figures.length, count);
  });
}
