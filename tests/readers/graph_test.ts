// What the page with graphs shows in a browser.

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

/** Serves what a program answers. */
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
async function showBoard(board: string): Promise<Graphs> {
  const url = `file://${PAGE}?${new URLSearchParams({ board })}`;
  const show = async () => readGraphs(await open(url));
  const isAnswered = ({ status, problem }: Graphs) => status + problem !== "";
  return await waitFor(`an answer of ${board}`, show, isAnswered);
}

test("graph.html shows the reading and its age, if the service permits it", async () => {
  const flags = ["--stdin", "--json", "--cors"];
  await using program = await Program.start(flags, { hasInput: true });
  const reading = '{"model":"Acurite-Tower","t":-21.5,"attic":{"t":20}}';
  await program.write(`${reading}\n`);
  await program.waitForAnswer(reading);
  const shown = await showBoard(` ${program.url} `); // as it is pasted
  assertMatch(shown.status, /^\d+ s old$/);
  const values = [["model", "Acurite-Tower"], ["t", "-21.5"]];
  assertEquals(shown.values, [...values, ["attic › t", "20"]]);
  await using closed = await Program.start();
  const { problem, values: none } = await showBoard(new URL(closed.url).host);
  assertMatch(problem, RegExp(`^${closed.url} does not answer.*--cors`));
  assertEquals(none, []);
  await closed.waitForLines(1); // even so, the page has sent its request
});

const CORS = { "access-control-allow-origin": "*" };

/** Answers with a reading. */
const reading = (reading: unknown) => () =>
  Response.json(reading, { headers: CORS });

const stale = (detail: string) => () =>
  Response.json({ detail }, { status: 503, headers: CORS });

/** Answers as a proxy does. */
const status = (status: number) => () =>
  new Response("<html>", { status, headers: CORS });

const ELEMENT = "<img src=x onerror=alert(1)>";
const KITCHEN = { about: "text", kitchen: { t: 21 } };
const BOTH = { ...KITCHEN, attic: { t: 20 } };

/** Numbers with names of their own. */
const numbers = (from: number, to: number) =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, index) => [`k${from + index}`, 1]),
  );

/** What a board answers, the last of it again and again, and what the page then shows. */
const CASES: [
  what: string,
  answers: ((request: Request) => Response)[],
  expected: Partial<Graphs>,
][] = [
  [
    "a higher number higher up, and a gap where there is no reading",
    [reading(7), reading(8), stale("dead"), reading(9)],
    { title: "9 – BOARD", values: [["", "9"]], lines: [[5, 50], [95]] },
  ],
  [
    "which of two sensors is gone",
    [reading(BOTH), reading(KITCHEN)],
    {
      status: "Its age is unknown",
      problem: "attic › t is missing",
      values: [["about", "text"], ["kitchen › t", "21"], ["attic › t", "–"]],
      title: "– attic › t – BOARD",
    },
  ],
  [
    "nothing of a sensor that is back",
    [
      reading(BOTH),
      reading(KITCHEN),
      reading({ ...BOTH, about: "more" }),
    ],
    {
      problem: "",
      values: [["about", "more"], ["kitchen › t", "21"], ["attic › t", "20"]],
    },
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
    "that the service is down",
    [status(502)],
    { problem: "nginx answers, but the service is down" },
  ],
  [
    "another status",
    [status(404)],
    { problem: "http://BOARD/datasensor answers with status 404" },
  ],
  [
    "that the password is wrong, after which it does not ask again",
    [status(401), reading(7)],
    { problem: "The password is missing or wrong: load this page again" },
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

/** Creates a page that shows pages in frames, and then their documents as JSON. */
const createFrames = (urls: string[]) =>
  `${urls.map((url) => `<iframe src="${url}"></iframe>`).join("")}
  <pre></pre>
  <script>
    const show = ({ document }) => document.documentElement.outerHTML;
    setInterval(() => {
      const text = JSON.stringify(Array.from(frames, show));
      document.querySelector("pre").textContent = encodeURIComponent(text);
    }, 500);
  </script>`;

test("graph.html shows what boards answer", async () => {
  await using stack = new AsyncDisposableStack();
  const counts = CASES.map(() => 0); // of requests
  const boards = CASES.map(([, answers], index) => {
    const answer = (request: Request) =>
      answers[Math.min(counts[index]!++, answers.length - 1)]!(request);
    return addressOf(stack.use(serve(answer)));
  });
  const frames = createFrames(boards.map((it) => `graph.html?board=${it}`));
  const page = await Deno.readTextFile(PAGE);
  const headers = { "content-type": "text/html" };
  await using site = serve(({ url }) =>
    new Response(url.includes("graph.html") ? page : frames, { headers })
  );
  /** Returns what is not as expected. In Chromium's time, an answer may be late. */
  const listWrong = async () => {
    counts.fill(0);
    const document = await open(`http://${addressOf(site)}/`, 13);
    const [, text = ""] = document.match(/<pre>(.*)<\/pre>/)!;
    const documents: string[] = JSON.parse(decodeURIComponent(text) || "[]");
    return CASES.flatMap(([what, , expected], index) => {
      const shown = JSON.stringify(
        readGraphs(documents[index] ?? ""),
        Object.keys(expected),
      ).replaceAll(boards[index]!, "BOARD");
      return shown === JSON.stringify(expected) ? [] : `${what}: ${shown}`;
    });
  };
  const isRight = (wrong: string[]) => wrong.length === 0;
  await waitFor("the expected graphs", listWrong, isRight);
});
