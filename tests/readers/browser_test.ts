// What a browser may read of the service, and what the page with graphs shows.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { chromium, type Graphs, readGraphs } from "./browser.ts";

/** Defines a test, which is skipped where there is no browser. */
function test(name: string, run: () => Promise<void>): void {
  Deno.test(skipIf(missing("chromium"), name), run);
}

/** Opens a page, and returns its document as it is after some seconds. */
async function open(url: string, seconds?: number): Promise<string> {
  using folder = await Folder.create();
  const [command, ...args] = chromium(url, folder.path, seconds);
  const options = { killGroup: true };
  const { code, stdout, stderr } = await output(command!, args, options);
  assertEquals(code, 0, stderr);
  return stdout;
}

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
    const isShown = (document: string) => document.includes(`<p>${shown}</p>`);
    await waitFor(shown, () => open(url), isShown);
    await program.waitForLines(1); // even a blocked page sends its request
  });
}

/** Serves what a board could answer. */
function serve(
  answer: (request: Request) => Response,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
}

function addressOf({ addr }: Deno.HttpServer<Deno.NetAddr>): string {
  return `127.0.0.1:${addr.port}`;
}

const PAGE = await Deno.realPath("src/readers/graph.html");

/** Opens the page with graphs from a file, and returns what it shows of a board. */
async function showBoard(board: string, seconds?: number): Promise<Graphs> {
  const url = `file://${PAGE}?${new URLSearchParams({ board })}`;
  const show = async () => readGraphs(await open(url, seconds));
  const isAnswered = ({ status, problem }: Graphs) => status + problem !== "";
  return await waitFor(`an answer of ${board}`, show, isAnswered);
}

test("graph.html shows the reading and its age, or why there is none", async () => {
  const flags = ["--stdin", "--json", "--cors"];
  await using program = await Program.start(flags, { hasInput: true });
  const board = new URL(program.url).host;
  const none = await showBoard(board);
  assertMatch(none.problem, /^No current reading: The sensor has/);
  const reading = '{"model":"Acurite-Tower","t":-21.5,"attic":{"t":20}}';
  await program.write(`${reading}\n`);
  await program.waitForAnswer(reading);
  const shown = await showBoard(` ${program.url} `); // as it is pasted
  assertMatch(shown.status, /^\d+ s old$/);
  const values = [["model", "Acurite-Tower"], ["t", "-21.5"]];
  assertEquals(shown.values, [...values, ["attic › t", "20"]]);
  assertEquals(shown.title, `20 attic › t – ${board}`);
  await program.stop();
  const down = await showBoard(board);
  assertMatch(down.problem, RegExp(`^${program.url} does not answer.*--cors`));
  assertEquals(down.values, []);
});

const CORS = { "access-control-allow-origin": "*" };

/** Answers with a reading. */
const reading = (reading: unknown) => () =>
  Response.json(reading, { headers: CORS });

const stale = (detail: string) => () =>
  Response.json({ detail }, { status: 503, headers: CORS });

const ELEMENT = "<img src=x onerror=alert(1)>";
const BOTH = { kitchen: { t: 21 }, attic: { t: 20 } };
const KITCHEN = { kitchen: { t: 21 } };

/** Numbers with names of their own. */
const numbers = (from: number, to: number) =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, index) => [`k${from + index}`, 1]),
  );

/** What a board answers, the last of it again and again, and what the page then shows. */
const CASES: [
  what: string,
  answers: ((request: Request) => Response)[],
  expected: Partial<Record<keyof Graphs, unknown>>,
][] = [
  [
    "a higher number higher up, and a gap where there is no reading",
    [reading(7), reading(8), stale("dead"), reading(9)],
    { values: [["", "9"]], lines: [[5, 50], [95]], title: "9 – BOARD" },
  ],
  [
    "which of two sensors is gone",
    [reading(BOTH), reading(KITCHEN)],
    {
      status: "Its age is unknown",
      problem: "attic › t is missing",
      values: [["kitchen › t", "21"], ["attic › t", "–"]],
      title: "– attic › t – BOARD",
    },
  ],
  [
    "nothing of a sensor that is back",
    [reading(BOTH), reading(KITCHEN), reading(BOTH)],
    { problem: "" },
  ],
  [
    "five of many values that are gone, or null",
    [
      reading(numbers(0, 8)),
      reading({ k0: null, k1: null, ...numbers(7, 8) }),
    ],
    { problem: "k0, k1, k2, k3, k4 and 2 more are missing" },
  ],
  [
    "a hundred values, and none as gone of what has more",
    [reading(numbers(0, 150)), reading(numbers(50, 200))],
    {
      status: "Its age is unknown: only 100 of its values are shown",
      problem: "",
      values: Object.entries(numbers(50, 150)).map(([name]) => [name, "1"]),
    },
  ],
  [
    "elements as text",
    [reading({ [ELEMENT]: ELEMENT }), reading({ a: ELEMENT }), stale(ELEMENT)],
    {
      problem: "No current reading: &lt;img src=x onerror=alert(1)&gt;",
      values: [["a", "–"], ["&lt;img src=x onerror=alert(1)&gt;", "–"]],
    },
  ],
  [
    "nothing of an endless body",
    [() => {
      const digits = new Uint8Array(65_536).fill(0x31);
      const body = new ReadableStream({ pull: (it) => it.enqueue(digits) });
      return new Response(body, { headers: CORS });
    }],
    {
      problem:
        "http://BOARD/datasensor answers without a reading: more than 65536 characters",
    },
  ],
  [
    "nothing of what a redirect leads to",
    [({ url }) => {
      if (url.endsWith("/other")) return reading(7)();
      const headers = { ...CORS, location: "/other" };
      return new Response(null, { status: 302, headers });
    }],
    {
      problem:
        "http://BOARD/datasensor does not answer: is it up, with the flag --cors?",
    },
  ],
];

for (const [what, answers, expected] of CASES) {
  test(`graph.html shows ${what}`, async () => {
    let requests = 0;
    await using board = serve((request) =>
      answers[Math.min(requests++, answers.length - 1)]!(request)
    );
    const address = addressOf(board);
    const show = async () => {
      requests = 0;
      return await showBoard(address, 2 * answers.length + 3);
    };
    const isRepeated = () => requests > answers.length; // so the last one is shown
    const shown = await waitFor("the last answer", show, isRepeated);
    const names = Object.keys(expected) as (keyof Graphs)[];
    const text = JSON.stringify(shown, names).replaceAll(address, "BOARD");
    assertEquals(JSON.parse(text), expected);
  });
}

/** Statuses of a board that serves the page, and what the page then shows. */
const STATUSES: [status: number, problem: string][] = [
  [401, "The password is missing or wrong: load this page again"],
  [404, "http://BOARD/datasensor answers with status 404"],
  [502, "nginx answers, but the service is down"],
];

for (const [status, problem] of STATUSES) {
  test(`graph.html, served by the board, shows status ${status}`, async () => {
    const page = await Deno.readTextFile(PAGE);
    await using board = serve(({ url }) =>
      url.endsWith("/datasensor")
        ? new Response("<html>", { status })
        : new Response(page, { headers: { "content-type": "text/html" } })
    );
    const address = addressOf(board);
    const document = await open(`http://${address}/`);
    const shown = readGraphs(document.replaceAll(address, "BOARD"));
    assertEquals([shown.problem, shown.hasForm], [problem, false]);
  });
}
