// What the board's page shows in a browser. What needs none is in tests/unit/page.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { PAGE } from "../../src/page/page.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";
import { chromium } from "./browser.ts";

/** What is known of a sensor: its name, age in seconds and reading, if it is not silent. */
type Sensor = [
  name: string | undefined,
  age: number | string,
  reading?: unknown,
];

/** What `/sensors` answers: sensors, or a status, 0 for no answer, with a body. */
type Answer = Sensor[] | [status: number, body: string];

const json = JSON.stringify;
const NOW = Date.UTC(2026, 9, 25, 11); // hours after clocks are set back in Berlin;
const END = NOW - 60_000; // of the last slot of the history
const ELEMENT = "<img src=x onerror=alert(1)>";
const A: Sensor = ["a", 1, { v: 5 }];
const B: Sensor = ["b", 1, { v: 7 }];
const K9 = { id: 1, v: 3 };
const CELLAR: Sensor = ["cellar", 172_800];
const PERCENT = "room 50 % %20";
const ATTIC: Sensor = ["attic", 3, { h: 50, t_C: 20 }];
const one = (...readings: unknown[]): Answer[] =>
  readings.map((reading) => [[undefined, 58.5, reading]]); // no age is shown

/** Returns the names of the columns of numbers. */
const column = (...labels: string[]) =>
  labels.map((label) => `min ${label},mean ${label},max ${label}`).join();

type Shown = ReturnType<typeof readPage>;

interface Case {
  what: string;
  /** What `/sensors` answers, the last of it again and again. */
  answers: Answer[];
  /** When the board gives these answers by its clock, in s; 15 s apart without it. */
  seconds?: number[];
  /** The columns of `/history`, and the cells of each row up to the last one. */
  history?: [header: string, ...rows: string[]] | [status: number];
  /** A script that runs before the page's. */
  before?: string;
  expected: Omit<Partial<Shown>, "graph"> & { graph?: string | RegExp };
}

const hide = (second: number, isHidden: boolean) =>
  `setTimeout(() => {
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, ${second * 1000});`;

/** Lets answers take some seconds. */
const slow = (sensors: number, history: number) =>
  `const get = fetch;
  fetch = async (url, options) => {
    const seconds = url.endsWith("/history") ? ${history} : ${sensors};
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    return get(url, options);
  };`;

const goOnline = (second: number) =>
  `setTimeout(() => dispatchEvent(new Event("online")), ${second * 1000});`;

const HALF_DAY = Array(144).fill("1,1,1");

/** A day with a gap, and how it is drawn with a 7 and some 8 after it. */
const DAY: Case["history"] = ["min,mean,max", "1,2,3", ",,", "4,4,4"];
const DRAWN =
  "M87,66h0M434,55h0L555,40h0L564,34h0L572,34h0L581,34h0L590,34h0L598,34h0 | M0,71H173V60H0ZM347,55H520V55H347Z";

/** Does something with the range over the first graph. */
const use = (second: number, script: string) =>
  `setTimeout(() => {
    const range = document.querySelector("input");
    const { left, width } = range.getBoundingClientRect();
    ${script}
  }, ${second * 1000});`;

/** Moves a pointer to a place of the first graph, from 0 to 1. */
const point = (second: number, type: string, place: number) =>
  use(
    second,
    `const options = { bubbles: true, clientX: left + ${place} * width };
    range.dispatchEvent(new PointerEvent("pointer${type}", options));`,
  );

/** Reads the page at once: only one of all frames has the focus. */
const LOOK = "self.shown = parent.read(self);";
const INPUT = 'range.dispatchEvent(new Event("input", { bubbles: true }));';

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
      setTimeout(() => find("h1").append(getSelection()), 20_000);`,
    expected: {
      title: "t 22.5 °C – BOARD",
      heading: "board.localhostt", // what was selected
      status: "1 sensor, current",
      note: "",
      sensors: ["Reading,t 22.5 °C"],
      tab: "Reading t",
      viewport: "width=device-width",
      height: 99,
      labelLeft: 481, // of 512
      graph:
        "M87,76h0M434,66h0L555,55h0L564,24h0L572,24h0L581,24h0L590,24h0L598,24h0 | M0,78H173V66H0ZM347,76H520V55H347Z | 11:50 | low 19.0 at 11:49 AM, high 22.5 at 12:00 PM",
    },
  },
  {
    what:
      "sensors in the order of their names, values in that of the reading, and constants in a line",
    answers: [[["k10", 7200, { z: 1, a: 2, b: "on" }], ["k9", 1, K9]]],
    history: [column("k9: id"), ...Array(12).fill("1,1,1")],
    expected: {
      sensors: ["k9,v 3,id 1", "k10 2 h old,z 1,a 2,b on"],
      graph:
        "M444,50h0L474,50h0L504,50h0L534,50h0L564,50h0L594,50h0 |  | 11:58 12 PM | only the last minutes",
    },
  },
  {
    what: "a sensor that has died, with its day, and a value that is gone",
    answers: [[["attic", 3, { t_C: 20 }], CELLAR]],
    history: [
      column("attic: h", "attic: t_C", "cellar: t"),
      "1,2,3,4,5,6,7,8,9",
    ],
    expected: {
      title: "cellar silent since Oct 23, 1:01 PM – BOARD",
      sensors: [
        "attic,t 20 °C,h –!",
        "cellar silent since Oct 23, 1:01 PM!,t –",
      ],
      background: "rgb(18, 18, 18)", // in dark mode
      rows: 1,
    },
  },
  {
    what: "nothing of a car that has passed",
    answers: [[ATTIC, ["car", 1, { kPa: 220 }]], [ATTIC]],
    expected: { sensors: ["attic,h 50,t 20 °C"] },
  },
  {
    what:
      "no number and no red sensor while there is no reading, or while the service is down",
    answers: [
      [ATTIC, CELLAR],
      [503, json({ detail: `They are ${ELEMENT}${"x".repeat(300)}` })],
    ],
    expected: {
      title: "No reading – BOARD",
      status: `No current reading: They are ${ELEMENT}${"x".repeat(163)}…!`,
      sensors: ["attic,h –,t – °C", "cellar"],
    },
  },
  {
    what: "that the board is down, and no number, after 10 s without an answer",
    answers: [...one(7, 7, 7), [0, ""]],
    expected: {
      title: "No reading – BOARD",
      status:
        "http://BOARD/board/ does not answer: its last answer came at 12:00 PM!",
      sensors: ["Reading,–"],
      graph: " |  |  | ", // none begins now
    },
  },
  {
    what: "that the password is wrong, after which it does not ask again",
    answers: [[401, ""], ...one(7)],
    expected: {
      status: "The password is missing or wrong: load this page again!",
      sensors: [],
      requests: 1,
    },
  },
  {
    what: "that the password of the last day is wrong, whatever is under way",
    answers: one(7),
    history: [401],
    before: slow(5, 4),
    expected: { title: "No reading – BOARD", requests: 1 },
  },
  {
    what: "elements as text, and the start of a long one",
    answers: [[[ELEMENT, 1, { [ELEMENT]: ELEMENT + "x".repeat(60_000) }]]],
    expected: {
      sensors: [`${ELEMENT},${ELEMENT} ${ELEMENT}${"x".repeat(172)}…`],
    },
  },
  {
    what: "that there are more values than it shows, and no last day",
    answers: [[B], [["a", 1, Array(2001).fill(0)], B]],
    history: [404],
    expected: {
      status: "2 sensors, all current. Only 2000 values are shown",
      boxes: 2000,
      note:
        "The last day is missing: http://BOARD/board/history answers with status 404 and no reading",
    },
  },
  {
    what:
      "what was there where a finger is, which still scrolls, up to the edge",
    answers: one(7, 8),
    history: DAY,
    before: point(12, "over", 0.1) + point(13, "move", 3),
    expected: {
      graph:
        `${DRAWN} | --place: 1; 12:01 PM: 8 | 11:50 | low 1 at 11:49 AM, high 8 at 12:00 PM`,
      line: "100% 50%,1px 100%",
      touchAction: "pan-y pinch-zoom",
    },
  },
  {
    what: "times again once the pointer and the focus have left",
    answers: one(7, 8),
    history: DAY,
    before: point(12, "over", 0.1) + point(13, "out", 0) +
      use(14, "range.focus(); range.blur();"),
    expected: {
      graph: `${DRAWN} | 11:50 | low 1 at 11:49 AM, high 8 at 12:00 PM`,
      range: ["-12", "0", "the last day"],
    },
  },
  {
    what: "a door as steps, after it fell silent, too",
    answers: [...one(true, false, true, true, true), [[undefined, 400]]],
    expected: {
      sensors: ["Reading silent since 11:54 AM!,–"],
      labelLeft: 10, // rather than half of it out of the graph
      graph:
        "M444,24H444h0H474V76H474h0H504V24H504h0H534V24H534h0H564V24H564h0 |  | 11:58 12 PM | yes from 12:00 PM",
    },
  },
  {
    what: "where a tap was, after the focus has followed",
    answers: one({ t_C: 7 }),
    history: [column("t_C"), "1,2,3", ",,", "4,4,4"],
    before: ["over", "up", "out"].map((type) => point(12, type, 0.1)).join("") +
      use(12, LOOK),
    expected: {
      graph: /--place: 0.08\d+; 11:49 AM: 2 °C \(1 to 3\)/,
      focus: "Reading t",
    },
  },
  {
    what: "the last reading to the focus, and five minutes a step",
    answers: one(7),
    history: ["min,mean,max", ...HALF_DAY, ...HALF_DAY, "2,2,2"],
    before: use(13, `range.focus(); range.stepDown(); ${INPUT} ${LOOK}`),
    expected: { graph: /--place: 0.99\d+; 11:59 AM: 2 / },
  },
  {
    what: "no mark on a graph that takes the place of one that vanishes",
    answers: [[A, B], [A, B], [B]],
    history: [column("a: v", "b: v"), "1,2,3,4,5,6"],
    before: point(7, "move", 0.1),
    expected: { graph: /^(?!.*--place)/, status: "1 sensor, current" },
  },
  {
    what: "the mark on its graph when a sensor before it vanishes",
    answers: [[["a", 1, "on"], B], [["a", 1, "on"], B], [B]],
    history: [column("b: v"), "4,5,6"],
    before: point(7, "move", 0),
    expected: { graph: /--place: 0; 11:59 AM: 5/, status: "1 sensor, current" },
  },
  {
    what: "which sensors are silent or lack a value, at its top",
    answers: [
      [["attic", 3, [1, 2, 3]], [PERCENT, 1, 5], ["den", 400]],
      [["attic", 3, [1]], [PERCENT, 400], ["den", 1, 5]],
    ],
    expected: {
      status:
        "attic missing a value, room 50 % %20 silent since 11:54 AM (2 of 3 sensors)!",
      links: ["attic", PERCENT],
      rows: 2, // since three graphs need two columns
    },
  },
  {
    what: "an early death with its graphs, order, focus and mark",
    answers: [...Array(4).fill([["s", 1, { z: true, a: 2 }]]), [["s", 400]]],
    history: [column("s: z"), ...Array(12).fill("1,1,1")],
    seconds: [0, 30, 61, 66],
    before: use(18, "range.focus(); range.stepDown();"),
    expected: {
      sensors: ["s silent since 11:54 AM!,z –,a –"],
      graph: /--place: 0.9/,
      boxes: 2,
      focus: "s z",
    },
  },
  {
    what: "values in the order in which it has shown them, after a return, too",
    answers: [[["s", 400]], [["s", 1, { z: 1, a: 2 }]]],
    history: [column("s: a", "s: z"), "1,2,3,4,5,6"],
    expected: { sensors: ["s,a 2,z 1"] },
  },
  {
    what:
      "numbers while an answer is late, with all of their age, but no answer that was overtaken",
    answers: [...one(9, 7.5, 7, 7, 7), [0, ""]],
    before: slow(2, 1) + goOnline(1),
    expected: {
      title: "7.0 – BOARD",
      sensors: ["Reading 2 min old,7.0"],
      graph: /begins in a minute$/,
      height: 99,
    },
  },
  {
    what:
      "hours of the browser's zone, also where clocks are set back, and yesterday",
    answers: one(7),
    history: ["min,mean,max", ...HALF_DAY, "0,1,1", ...HALF_DAY],
    expected: {
      graph: /\| 4 PM 12 AM 8 AM \| low 0 at 12:59 AM, high 7 at 12:00 PM$/,
    },
  },
  {
    what: "the last day again after five minutes",
    answers: one(7),
    history: ["min,mean,max", ...HALF_DAY],
    seconds: [80, 140, 200, 260],
    before: slow(0, 1) + `const ask = fetch;
      let count = 0; // of requests, the first of which fails
      fetch = (...it) => it[0].endsWith("y") && !count++ ? Promise.reject() : ask(...it);`,
    expected: { histories: 2, note: "", range: ["-145", "0", "the last day"] },
  },
  {
    what: "no old number when a proxy breaks the answer, and goes on asking",
    answers: [
      ...one(7),
      [200, "[null]"],
      [200, '[{"name":{"toString":1}}]'],
      ...one(9),
    ],
    expected: { title: "9 – BOARD" },
  },
  {
    what: "that the board's clock is wrong",
    answers: one(7),
    before: `const now = Date.now; Date.now = () => now() + 7 * 3600_000;`,
    expected: {
      status:
        "1 sensor, current. The board's clock is 7 h behind this device's",
    },
  },
  {
    what: "the last day anew each time that the board's clock has been set",
    answers: [...one(7, 7, 7), [[undefined, "x", 7]], ...one(7)],
    history: DAY,
    seconds: [0, 15, 115, 115, 50, 65],
    expected: { histories: 3 },
  },
  {
    what: "an unknown age where an answer has none",
    answers: [[[undefined, "x", 7], ["a", 3, 8]]],
    expected: {
      sensors: ["Reading age unknown,7", "a,8"],
      status: "2 sensors, all current",
      histories: 1,
    },
  },
  {
    what: "an answer at once when the network is there again",
    answers: [[0, ""], ...one(7)],
    before: goOnline(2) + goOnline(2.7),
    expected: { requests: 7, title: "7 – BOARD" },
  },
  {
    what: "nothing while it is hidden, and not what it asked for before",
    answers: one(7, 8),
    before: slow(3, 8) + hide(9, true),
    expected: {
      title: "BOARD",
      isHidden: true,
      text: "",
      status: "Asking the board…",
    },
  },
  {
    what: "a new answer at once after it was hidden",
    answers: one(7, 8, 9),
    before: hide(2, true) + hide(24, false),
    expected: { title: "8 – BOARD" },
  },
];

/** Deletes what browsers of 2021 lack. */
const OLD_BROWSER = `
  delete AbortSignal.timeout;
  delete Array.prototype.at;
  delete Array.prototype.toSorted;
  delete Object.hasOwn;
  delete String.prototype.toWellFormed;`;

/** Reads what the page in a frame shows. Runs in the browser, from its source text. */
// deno-lint-ignore no-explicit-any -- its window, whose types Deno does not have
function readPage({ document, requests = [], getComputedStyle }: any) {
  // deno-lint-ignore no-explicit-any
  type Element = any;
  const find = (selector: string) => document.querySelector(selector);
  const textOf = (node: Element) =>
    node?.textContent.replace(/\s+/g, " ").trim() ?? "";
  const isRed = (node: Element) =>
    getComputedStyle(node).backgroundColor === "rgb(160, 28, 22)";
  const show = (node: Element) =>
    textOf(node) +
    ([node, ...node.querySelectorAll("*")].some(isRed) ? "!" : "");
  const showAll = (root: Element, selector: string) =>
    [...root.querySelectorAll(selector)].map(show);
  const cards = [...document.querySelectorAll("section")];
  const range = find("input");
  const svg = find("svg");
  const box = svg?.parentNode ?? document.body;
  const [, band, line] = [...box.querySelectorAll("path")]
    .map((path) => path.getAttribute("d"));
  const { backgroundPosition, backgroundSize } = getComputedStyle(svg ?? box);
  const { mark } = box.dataset;
  const count = (path: string) =>
    requests.filter((url: string) => url.endsWith(path)).length;
  return {
    title: document.title,
    heading: textOf(find("h1")),
    status: show(find("[role=status]")), // with "!" if it is red, as what follows
    note: textOf(find("footer p")),
    isHidden: find("main").hidden,
    sensors: cards.map((card) => showAll(card, "h2, figcaption").join()),
    graph: [
      line ?? "",
      // Without what has no area
      band?.replace(/M(\d+),(\d+)H\1V\2H\1Z/g, "") ?? "",
      (mark ? `${box.style.cssText} ${mark} | ` : "") +
      showAll(box, "time").join(" "),
      textOf(find("figure > p")) || (svg?.ariaLabel ?? ""),
    ].join(" | "),
    text: find("main").innerText,
    links: [...document.querySelectorAll("[role] a")].map(({ hash }) => {
      const id = decodeURIComponent(hash.slice(1));
      return textOf(document.getElementById(id)?.querySelector("bdi"));
    }),
    background: getComputedStyle(document.body).backgroundColor,
    viewport: find("meta[name=viewport]")?.content,
    rows: new Set(cards.map(({ offsetTop }) => offsetTop)).size,
    height: find("figure > div")?.offsetHeight,
    labelLeft: parseInt(getComputedStyle(find("sup") ?? box).left),
    tab: find("a, input:not([tabindex])")?.ariaLabel,
    focus: document.activeElement.ariaLabel,
    boxes: document.querySelectorAll("figure > div").length, // for graphs
    range: [range?.min, range?.value, range?.getAttribute("aria-valuetext")],
    touchAction: getComputedStyle(range ?? box).touchAction,
    line: [backgroundPosition, backgroundSize].join(),
    requests: count("/sensors"),
    histories: count("/history"),
  };
}

/** Shows the page of each case in a frame, and then what they show as JSON. */
const FRAMES = `
  <style>iframe { width: 1200px; height: 600px; }</style>
  ${
  CASES.map((_, index) => `<iframe src="/board/?${index}"></iframe>`).join("")
}
  <pre></pre>
  <script>
    var read = ${readPage};
    setTimeout(() => {
      const text = JSON.stringify(Array.from(frames, (frame) => frame.shown ?? read(frame)));
      document.querySelector("pre").textContent = encodeURIComponent(text);
    }, 35_000);
  </script>`;

/** Answers the requests of a page in its frame, where no answer can be late. */
function createAnswers({ answers, seconds, history = [""] }: Case): string {
  const sensors = Array.from({ length: 8 }, (_, count) => {
    const answer = answers[Math.min(count, answers.length - 1)] ?? [0, ""];
    if (typeof answer[0] === "number") return answer;
    const second = seconds?.[Math.min(count, seconds.length - 1)] ?? 15 * count;
    const body = (answer as Sensor[]).map(([name, age, reading]) => {
      const time = new Date(NOW + 1000 * (second - (Number(age) || 0)));
      return { name, time, age, reading };
    });
    return [200, json(body)];
  });
  const [header, ...rows] = history;
  const lines = rows.map((cells, row) => {
    const time = END - (rows.length - 1 - row) * 300_000;
    return `${new Date(time).toISOString()},${cells}\r\n`;
  });
  const csv = `time${header && `,${header}`}\r\n${lines.join("")}`;
  const day = typeof header === "number" ? [header, ""] : [200, csv];
  return `
    var requests = [];
    setTimeout(() => self.shown ??= parent.read(self), 27_500); // however late it began
    const sensors = ${json(sensors)};
    const start = performance.now();
    Date.now = () => ${NOW} + performance.now() - start;
    fetch = async (url, { signal }) => {
      requests.push(url);
      const isDay = url === location.origin + "/board/history";
      const asked = requests.filter((path) => path.endsWith("/sensors")).length;
      const [status, body] = isDay
        ? ${json(day)}
        : sensors[asked - 1];
      if (status) return new Response(body, { status });
      await new Promise((_, reject) => signal.onabort = reject);
    };`;
}

/** Serves the pages of all cases, behind a proxy's path. */
function serve({ url }: Request): Response {
  const { pathname, search } = new URL(url);
  const type = { "content-type": "text/html; charset=utf-8" };
  if (pathname !== "/board/") return new Response(FRAMES, { headers: type });
  const shown = CASES[Number(search.slice(1))]!;
  const { before = "" } = shown;
  const scripts = `{${OLD_BROWSER}${createAnswers(shown)}${before}}`;
  const page = PAGE.replace("<script", `<script>${scripts}</script><script`);
  return new Response(page, { headers: type });
}

testWith("chromium")("the page shows what boards answer", async () => {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using server = Deno.serve(options, serve);
  using folder = await Folder.create();
  const board = `board.localhost:${server.addr.port}`;
  const command = chromium(`http://${board}/`, folder.path, 36);
  const { stdout, stderr } = await output(command[0]!, command.slice(1));
  const [, text] = stdout.match(/<pre>(.+)<\/pre>/) ?? [];
  assert(text, stdout + stderr);
  const frames: Shown[] = JSON.parse(
    decodeURIComponent(text).replaceAll(board, "BOARD"),
  );
  const shown = CASES.map(({ what, expected }, index) => {
    const keys = Object.keys(expected) as (keyof Shown)[];
    const values = keys.map((key) => {
      const value = frames[index]![key];
      const wanted = expected[key];
      const isMatch = wanted instanceof RegExp && wanted.test(`${value}`);
      return [key, isMatch ? wanted : value];
    });
    return { what, ...Object.fromEntries(values) };
  });
  assertEquals(
    shown,
    CASES.map(({ what, expected }) => ({ what, ...expected })),
  );
});

testWith("chromium")("a file with the page says what it needs", async () => {
  using folder = await Folder.create();
  await folder.write("page.html", PAGE);
  const command = chromium(`file://${folder.path}/page.html`, folder.path);
  const { stdout } = await output(command[0]!, command.slice(1));
  assertMatch(stdout, />\s+This page needs JavaScript and a browser of 2021/);
});
