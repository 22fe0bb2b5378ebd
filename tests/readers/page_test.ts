// What the board's page shows in a browser. What needs none is in tests/unit/readers.

import { PAGE } from "../../src/page/page.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { chromium, readPage, type Shown } from "./browser.ts";

/** What is known of a sensor: its name, age in seconds and reading, if it is not silent. */
type Sensor = [name: string | undefined, age: number, reading?: unknown];

/** What `/sensors` answers: sensors, or a status with a body. */
type Answer = Sensor[] | [status: number, body: string];

const json = JSON.stringify;
const NOW = Date.UTC(2026, 10, 26, 12);
const END = NOW - 60_000; // of the last slot of the history
const ELEMENT = "<img src=x onerror=alert(1)>";
const ESCAPED = "&lt;img src=x onerror=alert(1)&gt;";
const K9 = { id: 1, v: 3 };
const CELLAR: Sensor = ["cellar", 172_800];
const ATTIC: Sensor = ["attic", 3, { h: 50, t_C: 20 }];
const one = (...readings: unknown[]): Answer[] =>
  readings.map((reading) => [[undefined, 1, reading]]);

/** Returns the names of the columns of numbers. */
const column = (...labels: string[]) =>
  labels.map((it) => `min ${it},mean ${it},max ${it}`).join();

interface Case {
  what: string;
  /** What `/sensors` answers, the last of it again and again. */
  answers: Answer[];
  /** How long after the start the board gives these answers, in s; 5 s apart without it. */
  seconds?: number[];
  /** The columns of `/history`, and the cells of each row up to the last one. */
  history?: [header: string, ...rows: string[]] | [status: number];
  /** A script that runs before the page's. */
  before?: string;
  policy?: string;
  expected: Partial<Shown> & { requests?: number };
}

const hide = (second: number, isHidden: boolean) =>
  `setTimeout(() => {
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, ${second * 1000});`;

const CASES: Case[] = [
  {
    what:
      "a day with a gap, and what it has seen since then, in elements that stay",
    answers: one({ t_C: 21 }, { t_C: 22.5 }),
    history: [column("t_C"), "19,20,20.5", ",,", "20,20.5,21"],
    before: `
      const find = (selector) => document.querySelector(selector);
      const select = () => getSelection().selectAllChildren(find("span"));
      setTimeout(select, 2000);
      setTimeout(() => find("h1").append(getSelection()), 27_000);`,
    expected: {
      title: "t 22.5 °C – BOARD",
      heading: "BOARDt", // what was selected
      problem: "",
      note: "",
      sensors: ["1 s old,t 22.5 °C"],
      graph:
        "M91,69h0M455,56h0L582,44h0L585,5h0L588,5h0L591,5h0L594,5h0L597,5h0 | M0,95H182V56H0ZM364,69H545V44H364Z | 11:50 AM 11:55 AM | low 19.0 at 11:49 AM, high 22.5 at 12:00 PM",
    },
  },
  {
    what: "a higher number higher up, and a gap where the sensor is silent",
    answers: [...one(7, 8), [[undefined, 7000]], ...one(9)],
    expected: {
      sensors: ["1 s old,9"],
      graph:
        "M540,95h0L550,50h0M570,5h0L580,5h0L590,5h0 |  | 11:58 AM | low 7 at 12:00 PM, high 9 at 12:00 PM",
    },
  },
  {
    what: "no gap for a minute in which the phone slept",
    answers: one(7, 8, 9),
    seconds: [0, 5, 65],
    expected: {
      graph:
        "M468,95h0L478,50h0L598,5h0 |  | 11:58 AM 12:00 PM | low 7 at 12:00 PM, high 9 at 12:01 PM",
    },
  },
  {
    what: "no times to come after the board's clock has been set back",
    answers: one(1, 1, 1, 7, 8),
    seconds: [0, 5, 10, -45, -40],
    expected: {
      graph:
        "M582,95h0L592,5h0 |  | 11:56 AM 11:58 AM | low 7 at 11:59 AM, high 8 at 11:59 AM",
    },
  },
  {
    what:
      "sensors in the order of their names, values in that of the reading, and constants in a line",
    answers: [[["k10", 7200, { z: 1, a: 2, b: "on" }], ["k9", 1, K9]]],
    history: [column("k9: id"), ...Array(12).fill("1,1,1")],
    expected: {
      sensors: ["k9 1 s old,v 3,id 1", "k10 2 h old,z 1,a 2,b on"],
      graph:
        "M540,50h0L550,50h0L560,50h0L570,50h0L580,50h0L590,50h0 |  | 11:58 AM | no history",
    },
  },
  {
    what: "a sensor that has died, with its day, and a value that is gone",
    answers: [[ATTIC, CELLAR], [["attic", 3, { t_C: 20 }], CELLAR]],
    history: [
      column("attic: h", "attic: t_C", "cellar: t"),
      "1,2,3,4,5,6,7,8,9",
    ],
    expected: {
      title: "cellar silent for 2 days – BOARD",
      sensors: ["attic 3 s old,t 20 °C,h –!", "cellar silent for 2 days!,t –!"],
    },
  },
  {
    what: "nothing of a car that has passed",
    answers: [[ATTIC, ["car", 1, { kPa: 220 }]], [ATTIC]],
    expected: { sensors: ["attic 3 s old,h 50,t 20 °C"] },
  },
  {
    what:
      "no number and no red sensor while there is no reading, or while the service is down",
    answers: [[ATTIC], [503, json({ detail: `They are ${ELEMENT}` })]],
    expected: {
      title: "No reading – BOARD",
      problem: `No current reading: They are ${ESCAPED}`,
      sensors: ["attic age unknown,h –,t – °C"],
    },
  },
  {
    what: "that the service is down",
    answers: [[502, "<html>"]],
    expected: { problem: "nginx answers, but the service is down" },
  },
  {
    what: "that the board is down",
    answers: [],
    policy: "connect-src 'none'", // as if nobody were there
    expected: {
      problem: "http://BOARD/board/sensors does not answer: is it up?",
    },
  },
  {
    what: "that the password is wrong, after which it does not ask again",
    answers: [[401, ""], ...one(7)],
    expected: {
      problem: "The password is missing or wrong: load this page again",
      sensors: [],
      requests: 1,
    },
  },
  {
    what: "that the password of the last day is wrong",
    answers: one(7),
    history: [401],
    expected: { title: "No reading – BOARD", requests: 1 },
  },
  {
    what: "elements as text, and the start of a long one",
    answers: [[[ELEMENT, 1, { [ELEMENT]: ELEMENT + "x".repeat(60_000) }]]],
    expected: {
      sensors: [`${ESCAPED} 1 s old,${ESCAPED} ${ESCAPED}${"x".repeat(172)}…`],
    },
  },
  {
    what: "that there are more values than it shows, and no last day",
    answers: one(Array(2001).fill(0)),
    history: [404],
    expected: {
      problem: "Only 2000 values are shown",
      note:
        "The last day is missing: http://BOARD/board/history answers with status 404 and no reading",
    },
  },
  {
    what: "nothing while it is hidden, and not what it asked for before",
    answers: one(7, 8),
    before: `const get = fetch;
      fetch = async (...it) => (await new Promise((resolve) =>
        setTimeout(resolve, 3000)), get(...it));` + hide(9, true),
    expected: { title: "BOARD", requests: 2 },
  },
  {
    what: "a new answer at once after it was hidden",
    answers: one(7, 8, 9),
    before: hide(2, true) + hide(24, false),
    expected: { title: "8 – BOARD" },
  },
  {
    what: "what it needs where no script runs",
    answers: [],
    policy: "script-src 'none'",
    expected: {
      heading: "datasensor",
      problem:
        "This page needs JavaScript and a browser of 2021 or later. The readings are at /datasensor , too.",
    },
  },
];

/** Deletes what browsers of 2021 lack. */
const OLD_BROWSER = `
  delete AbortSignal.timeout;
  delete Array.prototype.at;
  delete Array.prototype.toSorted;
  delete Object.hasOwn;
  delete String.prototype.toWellFormed;`;

/** Shows the page of each case in a frame, and then their documents as JSON. */
const FRAMES = `
  ${
  CASES.map((_, index) => `<iframe src="/board/?${index}"></iframe>`).join("")
}
  <pre></pre>
  <script>
    const show = ({ document }) => document.documentElement.outerHTML;
    setTimeout(() => {
      const text = JSON.stringify(Array.from(frames, show));
      document.querySelector("pre").textContent = encodeURIComponent(text);
    }, 27_500);
  </script>`;

/** Answers as the boards of all cases do, behind a proxy's path. */
class Boards {
  readonly requests = CASES.map(() => 0); // for /sensors

  readonly answer = ({ url, headers }: Request): Response => {
    const { pathname, search } = new URL(url);
    const type = { "content-type": "text/html; charset=utf-8" };
    if (pathname === "/frames") return new Response(FRAMES, { headers: type });
    const index = Number(
      (search || new URL(headers.get("referer")!).search).slice(1),
    );
    const { before = "", policy = "", history = [""] } = CASES[index]!;
    if (pathname === "/board/") {
      const scripts = `<script>{${OLD_BROWSER}${before}}</script>`;
      const page = PAGE.replace("<script", `${scripts}<script`);
      const headers = { ...type, "content-security-policy": policy };
      return new Response(page, { headers });
    }
    if (pathname === "/board/sensors") return this.#answerSensors(index);
    const [header, ...rows] = history;
    if (typeof header === "number") return new Response("", { status: header });
    const lines = rows.map((cells, row) => {
      const time = END - (rows.length - 1 - row) * 300_000;
      return `${new Date(time).toISOString()},${cells}\r\n`;
    });
    return new Response(`time${header && `,${header}`}\r\n${lines.join("")}`);
  };

  #answerSensors(index: number): Response {
    const { answers, seconds } = CASES[index]!;
    const count = this.requests[index]!++;
    const answer = answers[Math.min(count, answers.length - 1)]!;
    const [status, body] = answer;
    if (typeof status === "number") return new Response(`${body}`, { status });
    const second = seconds?.[Math.min(count, seconds.length - 1)] ?? 5 * count;
    const sensors = (answer as Sensor[]).map(([name, age, reading]) => {
      const time = new Date(NOW + 1000 * (second - age)).toISOString();
      return { name, time, age, reading };
    });
    return Response.json(sensors);
  }
}

/** Opens the pages of all cases, and returns what is not as expected. */
async function listWrong(): Promise<string[]> {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const boards = new Boards();
  await using server = Deno.serve(options, boards.answer);
  using folder = await Folder.create();
  const board = `127.0.0.1:${server.addr.port}`;
  const url = `http://${board}/frames`;
  const [command, ...args] = chromium(url, folder.path, 28);
  const { stdout, stderr } = await output(command!, args, { killGroup: true });
  const [, text] = stdout.match(/<pre>(.+)<\/pre>/) ?? [];
  if (!text) return [stdout + stderr];
  const documents: string[] = JSON.parse(decodeURIComponent(text));
  return CASES.flatMap(({ what, expected }, index) => {
    const page = readPage(documents[index]!.replaceAll(board, "BOARD"));
    const all = { ...page, requests: boards.requests[index] };
    const shown = Object.fromEntries(
      Object.keys(expected).map((key) => [key, all[key as keyof typeof all]]),
    );
    return json(shown) === json(expected) ? [] : `${what}: ${json(shown)}`;
  });
}

testWith("chromium")("the page shows what boards answer", async () => {
  // In Chromium's time, an answer may be late
  const isRight = (wrong: string[]) => wrong.length === 0;
  await waitFor("the expected pages", listWrong, isRight);
});
