// What the board's page shows in a browser.

import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { chromium, readPage, type Shown } from "./browser.ts";

const PAGE = await Deno.readTextFile("src/readers/page.html");

/** What the board answers: a body, or a status with one. */
type Answer = string | [status: number, body: string];

const DATE = "Thu, 26 Nov 2026 12:00:00 GMT";

/** Samples of a sensor that has sent its last reading some seconds ago, and is up or not. */
const sensor = (name: string, age: number, up: 0 | 1) =>
  `datasensor_up{sensor="${name}"} ${up}
datasensor_reading_timestamp_seconds{sensor="${name}"} ${secondsAgo(age)}
`;
const onlySensor = (age: number) =>
  `# TYPE datasensor_reading_timestamp_seconds gauge
datasensor_reading_timestamp_seconds ${secondsAgo(age)}
`;
const secondsAgo = (age: number) => Date.parse(DATE) / 1000 - age;

const json = JSON.stringify;
const stale = (detail: string): Answer => [503, json({ detail })];
const status = (status: number): Answer => [status, "<html>"];

const ELEMENT = "<img src=x onerror=alert(1)>";
const ESCAPED = "&lt;img src=x onerror=alert(1)&gt;";
const CAR = { car: { id: "car", kPa: 220 } };
const BOTH = { attic: { h: 50, t: 20 }, kitchen: { t: 21 } };
const BOTH_UP = sensor("attic", 3, 1) + sensor("kitchen", 119, 1);

interface Case {
  what: string;
  /** What `/datasensor` answers, the last of it again and again. */
  readings: Answer[];
  /** What `/metrics` answers. */
  metrics?: Answer[];
  /** A script that runs before the page's. */
  before?: string;
  policy?: string;
  expected: Partial<Shown>;
}

/** Sets the clock after three readings, by some seconds. */
const setClock = (seconds: number) =>
  `const { now } = Date;
  setTimeout(() => Date.now = () => now() + ${1000 * seconds}, 12_000);`;

const CASES: Case[] = [
  {
    what: "a higher number higher up, and a gap where there is no reading",
    readings: ["7", "8", stale("dead"), "9"],
    metrics: [onlySensor(7000)],
    expected: {
      title: "9 – BOARD",
      heading: "BOARD",
      problem: "",
      sensors: [["117 min old", "9"]],
      lines: [[5, 50], [95]],
    },
  },
  {
    what: "a gap for a minute in which the phone slept",
    readings: ["7", "8", "9"],
    before: setClock(60),
    expected: { lines: [[5, 50, 95], [95]] },
  },
  {
    what: "no times to come after the clock has been set back",
    readings: ["1", "1", "1", "7", "8"],
    before: setClock(-60),
    expected: { lines: [[5, 95]] },
  },
  {
    what: "sensors and values in the order of their names",
    readings: [
      json({ k10: { t: 1 }, k9: { b: 1, a: { x: [2, null, "on"] } } }),
      json({ k9: { a: { x: [2, null, "on"] }, b: 1 }, k10: { t: 1 } }),
    ],
    metrics: [
      sensor("k10", 7200, 1) + sensor("k9", 1, 1),
      sensor("k9", 1, 1) + sensor("k10", 7200, 1),
    ],
    expected: {
      title: "a › x › 0 2 – BOARD",
      sensors: [
        ["k9 1 s old", "a › x › 0 2", "a › x › 2 on", "b 1"],
        ["k10 2 h old", "t 1"],
      ],
    },
  },
  {
    what: "numbers with six digits, or all of their integer part",
    readings: [json({
      a: [21.123456789012344, -0.00012345678, 1234567.8, 1e300],
      b: [" 21.10", "1234567890123456789", "0x10", "-.5e1", true],
    })],
    expected: {
      sensors: [[
        "",
        ...["a › 0 21.1235", "a › 1 -0.000123457", "a › 2 1234568"],
        ...["a › 3 1e+300", "b › 0 21.1", "b › 1 1234567890123456789"],
        ...["b › 2 0x10", "b › 3 -5", "b › 4 true"],
      ]],
    },
  },
  {
    what: "no texts that the name of the sensor has, but its numbers",
    readings: [json({
      "a%2Fb/1/42": { model: "a/b", channel: 1, id: "42", t: 42, text: "4" },
      "door/left": { name: "door/left", state: "" },
    })],
    metrics: [
      sensor("a%2Fb/1/42", 86_400, 1) + sensor("door/left", 172_800, 1),
    ],
    expected: {
      sensors: [
        ["a%2Fb/1/42 24 h old", "channel 1", "id 42", "t 42", "text 4"],
        ["door/left 2 days old", "state"],
      ],
    },
  },
  {
    what: "the ages of sensors whose names are escaped",
    readings: [json({ 'a"\\\n"} 1': { t: 1 }, "\\n": { t: 2 } })],
    metrics: [sensor('a\\"\\\\\\n\\"} 1', 1, 1) + sensor("\\\\n", 2, 1)],
    expected: {
      sensors: [["\\n 2 s old", "t 2"], ['a"\\ "} 1 1 s old', "t 1"]],
    },
  },
  {
    what: "a sensor that died before the page was opened",
    readings: [json(BOTH)],
    metrics: [BOTH_UP + sensor("cellar", 172_800, 0)],
    expected: {
      title: "cellar silent for 2 days – BOARD",
      sensors: [
        ["attic 3 s old", "h 50", "t 20"],
        ["cellar silent for 2 days!"],
        ["kitchen 119 s old", "t 21"],
      ],
    },
  },
  {
    what: "a sensor that has died since, at its place",
    readings: [json(BOTH), json({ kitchen: { t: 21 } })],
    metrics: [BOTH_UP, sensor("kitchen", 1, 1) + sensor("attic", 300, 0)],
    expected: {
      sensors: [
        ["attic silent for 5 min!", "h –", "t –"],
        ["kitchen 1 s old", "t 21"],
      ],
      lines: [[50]],
    },
  },
  {
    what: "an object of an only sensor that is gone",
    readings: [json(BOTH), json({ kitchen: { t: 21 } })],
    metrics: [onlySensor(3)],
    expected: {
      sensors: [
        ["3 s old"],
        ["attic silent!", "h –", "t –"],
        ["kitchen", "t 21"],
      ],
    },
  },
  {
    what: "why there is no reading of all sensors",
    readings: [json(BOTH), stale(`They are ${ELEMENT}`)],
    metrics: [BOTH_UP, sensor("attic", 300, 0) + sensor("kitchen", 419, 0)],
    expected: {
      title: "No reading – BOARD",
      problem: `No current reading: They are ${ESCAPED}`,
      sensors: [
        ["attic silent for 5 min!", "h –", "t –"],
        ["kitchen silent for 7 min!", "t –"],
      ],
    },
  },
  {
    what: "a value that is gone, and one that is back",
    readings: [
      json(BOTH),
      json({ ...BOTH, attic: { h: null } }),
      json({ ...BOTH, attic: { t: 20 } }),
    ],
    metrics: [BOTH_UP],
    expected: {
      sensors: [
        ["attic 3 s old", "h –", "t 20"],
        ["kitchen 119 s old", "t 21"],
      ],
    },
  },
  {
    what: "nothing of what has been gone for as long as graphs show",
    readings: [json({ ...BOTH, ...CAR }), json(BOTH)],
    metrics: [BOTH_UP + sensor("car", 1, 1), BOTH_UP],
    before: setClock(300),
    expected: {
      sensors: [
        ["attic 3 s old", "h 50", "t 20"],
        ["kitchen 119 s old", "t 21"],
      ],
    },
  },
  {
    what: "values without ages while there are no metrics",
    readings: [json(BOTH)],
    metrics: [BOTH_UP + sensor("cellar", 300, 0), status(504)],
    expected: {
      problem: "http://BOARD/metrics answers with status 504 and no reading",
      sensors: [
        ["attic", "h 50", "t 20"],
        ["cellar silent!"],
        ["kitchen", "t 21"],
      ],
    },
  },
  {
    what: "no ages while there is no answer but metrics",
    readings: [json(BOTH), status(200)],
    metrics: [BOTH_UP],
    expected: {
      title: "No reading – BOARD",
      problem: "http://BOARD/datasensor answers with status 200 and no reading",
      sensors: [["attic", "h –", "t –"], ["kitchen", "t –"]],
    },
  },
  {
    what: "elements as text",
    readings: [json({ [ELEMENT]: { [ELEMENT]: ELEMENT + 1 }, a: ELEMENT })],
    expected: {
      title: `a ${ESCAPED} – BOARD`,
      sensors: [["", `a ${ESCAPED}`], [ESCAPED, `${ESCAPED} ${ESCAPED}1`]],
    },
  },
  {
    what: "the start of a long text",
    readings: [json("x".repeat(60_000))],
    expected: { sensors: [["", `${"x".repeat(200)}…`]] },
  },
  {
    what: "that there are more values than it shows, also in turn",
    readings: [
      json(Array(2000).fill(0)),
      json(Object.fromEntries(Array(2000).fill(0).map((_, i) => [`k${i}`, 1]))),
    ],
    expected: { problem: "Only 2000 values are shown" },
  },
  {
    what: "that the board is down",
    readings: [],
    policy: "connect-src 'none'", // as if nobody were there
    expected: { problem: "http://BOARD/datasensor does not answer: is it up?" },
  },
  {
    what: "that the service is down",
    readings: [status(502)],
    metrics: [status(502)],
    expected: { problem: "nginx answers, but the service is down" },
  },
  {
    what: "that the password is wrong, after which it does not ask again",
    readings: [status(401), "7"],
    metrics: [status(401), onlySensor(1)],
    expected: {
      problem: "The password is missing or wrong: load this page again",
      sensors: [],
    },
  },
  {
    what: "what it needs where no script runs",
    readings: ["7"],
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
  ${CASES.map((_, index) => `<iframe src="/?${index}"></iframe>`).join("")}
  <pre></pre>
  <script>
    const show = ({ document }) => document.documentElement.outerHTML;
    setInterval(() => {
      const text = JSON.stringify(Array.from(frames, show));
      document.querySelector("pre").textContent = encodeURIComponent(text);
    }, 500);
  </script>`;

/** Answers as the boards of all cases. A request's page says whose it is. */
class Boards {
  readonly #counts = new Map<string, number>(); // of requests, by case and path

  readonly answer = ({ url, headers }: Request): Response => {
    const { pathname, search } = new URL(url);
    const type = { "content-type": "text/html; charset=utf-8" };
    if (pathname === "/frames") return new Response(FRAMES, { headers: type });
    const index = search || new URL(headers.get("referer")!).search;
    const { readings, metrics = [""], before = "", policy = "" } =
      CASES[Number(index.slice(1))]!;
    if (pathname === "/") {
      const scripts = `<script>{${OLD_BROWSER}${before}}</script>`;
      const page = PAGE.replace("<script", `${scripts}<script`);
      const headers = { ...type, "content-security-policy": policy };
      return new Response(page, { headers });
    }
    const answers = pathname === "/metrics" ? metrics : readings;
    const count = this.#counts.get(pathname + index) ?? 0;
    this.#counts.set(pathname + index, count + 1);
    const answer = answers[Math.min(count, answers.length - 1)]!;
    const [status, body] = typeof answer === "string" ? [200, answer] : answer;
    return new Response(body, { status, headers: { date: DATE } });
  };
}

/** Opens the pages of all cases, and returns what is not as expected. */
async function listWrong(): Promise<string[]> {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using server = Deno.serve(options, new Boards().answer);
  using folder = await Folder.create();
  const board = `127.0.0.1:${server.addr.port}`;
  const url = `http://${board}/frames`;
  const [command, ...args] = chromium(url, folder.path, 28);
  const { stdout, stderr } = await output(command!, args, { killGroup: true });
  const [, text] = stdout.match(/<pre>(.+)<\/pre>/) ?? [];
  if (!text) return [stdout + stderr];
  const documents: string[] = JSON.parse(decodeURIComponent(text));
  return CASES.flatMap(({ what, expected }, index) => {
    const all = readPage(documents[index]!.replaceAll(board, "BOARD"));
    const shown = Object.fromEntries(
      Object.keys(expected).map((key) => [key, all[key as keyof Shown]]),
    );
    return json(shown) === json(expected) ? [] : `${what}: ${json(shown)}`;
  });
}

testWith("chromium")("page.html shows what boards answer", async () => {
  // In Chromium's time, an answer may be late
  const isRight = (wrong: string[]) => wrong.length === 0;
  await waitFor("the expected pages", listWrong, isRight);
});
