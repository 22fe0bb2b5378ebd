// What the board's page shows in a browser. What needs none is in tests/unit/page.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { PAGE, PAGE_POLICY } from "../../src/page/page.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";
import { type Sensor, writeCsv, writeSensors } from "../unit/page/answers.ts";
import { chromium } from "./browser.ts";

const NOW = Date.UTC(2026, 9, 25, 11); // hours after clocks are set back in Berlin
const END = NOW - 60_000; // of the last slot of the history
const ELEMENT = "<img src=x onerror=alert(1)>";
const PERCENT = "x 50 % %20";
const one = (...readings: unknown[]): Sensor[][] =>
  readings.map((reading) => [[undefined, 0, reading]]);

type Shown = ReturnType<typeof readPage>;

interface Case {
  /** What `/sensors` answers, if it does, the last of it again and again. */
  answers: (Sensor[] | undefined)[];
  /** The series of `/history`, and the cells of each row up to the last one. */
  history?: [series: string[], ...rows: string[]];
  /** What is done once the page shows something, with the functions of ACTIONS. */
  act?: string;
  expected: Partial<Shown>;
}

/** What is done with a page, as a part of its frame's script. */
const ACTIONS = `
  const find = (selector) => document.querySelector(selector);
  const until = async (isTrue) => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const poll = async () => {
    document.title = "";
    dispatchEvent(new Event("online"));
    await until(() => document.title);
  };
  const hide = (isHidden) => {
    Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  const point = async (type, place, target = find("svg")) => {
    const { left, width } = target.getBoundingClientRect();
    const options = { bubbles: true, clientX: left + place * width };
    const { textContent } = find("strong");
    target.dispatchEvent(new PointerEvent("pointer" + type, options));
    await until(() => find("strong").textContent !== textContent); // in the next frame
  };
  const step = (steps) => {
    range.stepUp(steps);
    range.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const range = find("input");
  const seen = self.seen = [];
  const see = () => seen.push(parent.read(self).then);`;

const HALF_DAY = Array(144).fill("1,1,1");

const CASES: Record<string, Case> = {
  "a day, in elements that stay while it changes": {
    answers: one({ t_C: 21, f: 5 }, { t_C: 22.5, f: 5 }),
    history: [[" t_C", " f"], "19,20,20.5,5,5,5", "20,20.5,21,5,5,5"],
    act: `getSelection().selectAllChildren(find("figure bdi"));
      await poll();
      find("h1").append(getSelection());`,
    expected: {
      title: "t 22.5 °C – BOARD",
      heading: "board.localhostt", // what was selected
      status: "1 sensor, current",
      note: "",
      sensors: ["Reading,t 22.5 °C,f 5"],
      day: "last 1 h,11:49 AMnow,low 19.0 at 11:54 AM, high 22.5 at 12:00 PM",
      viewport: "width=device-width",
      tab: "time",
    },
  },
  "elements as text, and the start of a long one": {
    answers: [[[ELEMENT, 1, { [ELEMENT]: ELEMENT + "x".repeat(60_000) }]]],
    expected: {
      sensors: [`${ELEMENT},${ELEMENT} ${ELEMENT}${"x".repeat(172)}…`],
    },
  },
  "which sensors are silent or lack a value, at its top": {
    answers: [
      [["attic", 3, [1, 2, 3]], [PERCENT, 1, 5]],
      [["attic", 99, [1]], [PERCENT, 400, undefined, 5]],
    ],
    act: "await poll();",
    expected: {
      title: "attic missing a value, x 50 % %20 silent since 11:53 AM – BOARD",
      status: "attic missing a value, x 50 % %20 silent since 11:53 AM!",
      links: ["attic", PERCENT],
      sensors: [
        "attic at 11:58 AM,0 1,1 missing!,2 missing!",
        "x 50 % %20 silent since 11:53 AM!,silent",
      ],
      rows: 1, // side by side
      background: "rgb(18, 18, 18)", // in dark mode
    },
  },
  "that all are silent once, and what a door was": {
    answers: [[["door", 400, undefined, { open: true }], ["gate", 400]]],
    expected: {
      status: "All 2 sensors silent since 11:53 AM!",
      sensors: [
        "door silent since 11:53 AM!,open silent",
        "gate silent since 11:53 AM!",
      ],
      day: "last 0 h,last yes at 11:53 AM",
    },
  },
  "no number and no red sensor after 10 s without an answer": {
    answers: [[["attic", 3, { t_C: 20 }], ["cellar", 400]], undefined],
    act: `await until(() => find("[role]").textContent.includes("answer"));`,
    expected: {
      title: "No reading – BOARD",
      status:
        "http://BOARD/board/ does not answer: its last answer came at 12:00 PM!",
      sensors: ["attic,t unknown", "cellar"],
    },
  },
  "that there are more values and sensors than it shows": {
    answers: [[...Array(2003)].map((_, i): Sensor => [`${i}`, 400])],
    expected: {
      status:
        ", 1998, 1999 silent since 11:53 AM, 3 more silent. Only the first 2000 sensors and values are shown!",
    },
  },
  "what was where a finger is, on all graphs, and then what is now": {
    answers: one({ t_C: 7, on: true }),
    history: [[" t_C", " on"], "1,2,3,0,0.5,1", ",,,,,", "4,4,4,1,1,1"],
    act: `const changes = new MutationObserver(() => seen.push("loud"));
      changes.observe(find("[role]"), { subtree: true, childList: true, characterData: true });
      await point("down", 0.1);
      see();
      await point("leave", 0, find("main"));`,
    expected: {
      seen: "11:45 AM,now 7 °C,2 °C,now yes,yes, no,10% 50%",
      then: "now,1 to 7,7 °C,yes since 11:54 AM,yes,-100% 50%",
      touchAction: "pan-y pinch-zoom",
    },
  },
  "what was then, or no reading, until the end of the range or Escape": {
    answers: one({ t_C: 7 }, { t_C: 7 }),
    history: [[" t_C"], "1,2,3", ",,", "4,4,4"],
    act: `range.focus();
      for (const steps of [[-2, 2], [-3], [1]]) {
        steps.forEach(step);
        await poll();
        see();
      }
      document.dispatchEvent(new KeyboardEvent("keyup", { key: "Escape" }));`,
    expected: {
      seen:
        "now,1 to 7,7 °C,-100% 50%; 11:50 AM,now 7 °C,no reading,37.2671% 50%; 11:55 AM,now 7 °C,4 °C,68.323% 50%",
      then: "now,1 to 7,7 °C,-100% 50%",
      focus: "time",
    },
  },
  "times of the browser's zone, and that the board's clock is wrong": {
    answers: [undefined, ...one(7)], // asks again after its own abort
    history: [[""], ...HALF_DAY, "0,1,1", ...HALF_DAY],
    act: `const { now } = Date;
      Date.now = () => now() + 7 * 3600_000;
      await poll();`,
    expected: {
      day: "last 24 h,Sat 1:04 PMnow,low 0 at 12:59 AM, high 7 at 12:00 PM",
      status: "1 sensor, current. The board's clock says 12:00 PM",
    },
  },
  "nothing while it is hidden, and then a new answer at once": {
    answers: one(7, 8),
    act: `hide(true);
      seen.push(find("main").innerText + document.title);
      hide(false);
      await until(() => !find("main").hidden);`,
    expected: { seen: "BOARD", title: "8 – BOARD" },
  },
  "no HTML or script that something brings into it": {
    answers: one(7),
    act: `for (const bring of [
      () => find("h1").innerHTML = "<b>",
      () => find("h1").append(Object.assign(document.createElement("script"), { text: "ran = 1" })),
      () => find("h1").setAttribute("onclick", "ran = 1"),
    ]) {
      try { bring(); } catch { seen.push("refused"); }
      find("h1").click();
    }
    seen.push(self.ran);`,
    expected: { seen: "refused; refused; refused; " },
  },
};

/** Deletes what browsers of 2021 lack. */
const OLD_BROWSER = `
  for (const [of, name] of [[AbortSignal, "timeout"], [Array.prototype, "at"],
    [Array.prototype, "toSorted"], [Object, "hasOwn"], [String.prototype, "toWellFormed"]]
  ) delete of[name];`;

/** Reads what the page in a frame shows. Runs in the browser, from its source text. */
// deno-lint-ignore no-explicit-any -- its window, whose types Deno does not have
function readPage(frame: any) {
  // deno-lint-ignore no-explicit-any
  type Element = any;
  const { document, getComputedStyle } = frame;
  const find = (selector: string) => document.querySelector(selector);
  const list = (selector: string) => [...document.querySelectorAll(selector)];
  const textOf = (node: Element): string =>
    node?.textContent.replace(/\s+/g, " ").trim() ?? "";
  const isRed = (node: Element) =>
    getComputedStyle(node).backgroundColor === "rgb(160, 28, 22)";
  const show = (node: Element) => {
    const copy = node.cloneNode(true);
    for (const it of copy.querySelectorAll(".then, .axis, p")) it.remove();
    const isMarked = [node, ...node.querySelectorAll("*")].some(isRed);
    return textOf(copy) + (isMarked ? "!" : "");
  };
  const line = getComputedStyle(find("svg") ?? document.body);
  return {
    title: document.title.replace("\u00a0", " "),
    heading: textOf(find("h1")),
    status: show(find("[role=status]")).slice(-100), // with "!" if it is red, as what follows
    note: textOf(find("footer p")),
    sensors: list("section").map((card) =>
      [...card.querySelectorAll("h2, figure")].map(show).join()
    ),
    day: list("form small, .axis, figure:not(.flat) p").map(textOf).join(),
    then: [...list("strong, .then, .now").map(textOf), line.backgroundPosition]
      .join(),
    links: list("[role] a").map(({ hash }) => {
      const id = decodeURIComponent(hash.slice(1));
      return textOf(document.getElementById(id)?.querySelector("bdi"));
    }),
    rows: new Set(list("section").map(({ offsetTop }) => offsetTop)).size,
    background: getComputedStyle(document.body).backgroundColor,
    viewport: find("meta[name=viewport]")?.content,
    touchAction: line.touchAction,
    tab: find("a, input")?.id,
    focus: document.activeElement.id,
    seen: frame.seen.join("; "),
  };
}

/** Shows each case's page in a frame as Home Assistant does, and then what they show, as JSON. */
const FRAMES = `
  <style>iframe { width: 1200px; height: 600px; }</style>
  <pre></pre>
  <script>
    var read = ${readPage};
    setTimeout(() => {
      const text = JSON.stringify(Array.from(frames, ({ shown }) => shown ?? {}));
      document.querySelector("pre").textContent = encodeURIComponent(text);
    }, 58_000);
  </script>
  ${
  Object.keys(CASES).map((_, index) =>
    `<iframe src="/board/?${index}" sandbox="allow-same-origin allow-scripts allow-downloads"></iframe>`
  ).join("")
}`;

/** Answers the requests of a page in its frame, where no answer can be late, and then reads it. */
function createScript({ answers, history = [[]], act }: Case): string {
  const sensors = answers.map((answer, count) =>
    answer && writeSensors(answer, NOW + 5000 * count)
  );
  const [series, ...rows] = history;
  const csv = writeCsv(END, series, rows);
  return `
    const sensors = ${JSON.stringify(sensors)};
    const start = performance.now();
    Date.now = () => ${NOW} + performance.now() - start;
    fetch = async (url, { signal }) => {
      if (url === location.origin + "/board/history") {
        return new Response(${JSON.stringify(csv)});
      }
      const answer = sensors.length > 1 ? sensors.shift() : sensors[0];
      if (answer) return new Response(answer);
      await new Promise((_, reject) => signal.onabort = reject);
    };
    addEventListener("load", async () => {
      ${ACTIONS}
      await until(() => find("[role]").textContent.match(/current|silent|missing/i));
      ${act ?? ""}
      self.shown = parent.read(self);
      hide(true); // it asks nothing any more
    });`;
}

const listen = (handler: Deno.ServeHandler) =>
  Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);

function respond(html: string, policy = ""): Response {
  const type = "text/html; charset=utf-8";
  const headers = { "content-type": type, "content-security-policy": policy };
  return new Response(html, { headers });
}

/** Serves the pages of all cases, behind a proxy's path. */
function serve({ url }: Request): Response {
  const { pathname, search } = new URL(url);
  if (pathname !== "/board/") return respond(FRAMES);
  const shown = Object.values(CASES)[Number(search.slice(1))]!;
  const script = `{${OLD_BROWSER}${createScript(shown)}}`;
  const nonce = `<script nonce="test">${script}</script><script`;
  const page = PAGE.replace("<script", () => nonce);
  const policy = PAGE_POLICY.replace("script-src", "script-src 'nonce-test'");
  return respond(page, policy);
}

/** Opens a page, and returns the document that it became. */
async function open(url: string, seconds?: number): Promise<string> {
  using folder = await Folder.create();
  const command = chromium(url, folder.path, seconds);
  return (await output(command[0]!, command.slice(1))).stdout;
}

/** Opens the pages of all cases in one browser, which takes long to start. */
async function openPages(): Promise<Shown[]> {
  await using server = listen(serve);
  const board = `board.localhost:${server.addr.port}`;
  const document = await open(`http://${board}/`, 60);
  const [, text] = document.match(/<pre>(.+)<\/pre>/) ?? [];
  assert(text, document);
  return JSON.parse(decodeURIComponent(text).replaceAll(board, "BOARD"));
}

let pages: ReturnType<typeof openPages> | undefined;

Object.entries(CASES).forEach(([what, { expected }], index) => {
  testWith("chromium")(`the page shows ${what}`, async () => {
    const shown = (await (pages ??= openPages()))[index]!;
    const keys = Object.keys(expected) as (keyof Shown)[];
    const values = keys.map((key) => [key, shown[key]]);
    assertEquals(Object.fromEntries(values), expected);
  });
});

testWith("chromium")("a changed page, or a file, says what it is", async () => {
  using folder = await Folder.create();
  await folder.write("page.html", PAGE);
  const changed = PAGE.replaceAll("\n", "");
  await using server = listen(() => respond(changed, PAGE_POLICY));
  const address = `http://127.0.0.1:${server.addr.port}/`;
  for (const url of [address, `file://${folder.path}/page.html`]) {
    const shown = await open(url);
    assertMatch(shown, /does not run: a proxy .*or it\s+is a file/s);
  }
});
