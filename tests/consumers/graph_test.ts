// A browser shows the page that draws the readings of a board.

import { SimulatedBoard } from "./simulated_board.ts";
import { Page } from "./browser.ts";
import { choose, FILE, History } from "./graph.ts";
import { missingAddress, needs } from "../helpers/needs.ts";
import { Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

const text = (selector: string) =>
  `[...document.querySelectorAll("${selector}")].map((e) => e.innerText)`;

/** The number of lines that a graph consists of, which gaps separate. */
const LINES =
  `document.querySelector("path")?.getAttribute("d").split("M").length - 1`;

Deno.test(
  "graph.html shows the reading and its age, and says if it is stale or the board is down",
  needs({ commands: ["chromium"] }),
  async () => {
    await using board = await SimulatedBoard.start("--cors");
    await board.say("21.5");
    await using page = await Page.open(FILE);
    await choose(page, board.host);
    await page.waitForValue(text("b"), ["21.5"]);
    await page.waitForValue(`/^[0-2] s old$/.test(${text("p")})`, true);
    await page.waitForValue("document.title", `21.5 – ${board.host}`);
    await board.becomeStale();
    await page.waitForValue(text("b"), ["–"]);
    await page.waitForValue(
      `/^No current reading: .*the limit is 1 s/.test(${text("p")})`,
      true,
    );
    await board.say("-2");
    await page.waitForValue(text("b"), ["-2"]);
    await page.waitForValue(text("small :nth-child(2)"), ["-2 to 21.5"]);
    await page.waitForValue(LINES, 2);
    await board.goDown();
    await page.waitForValue(text("p, b"), [
      `${board.program.url} does not answer: is it up, with the flag --cors?`,
      "–",
    ]);
  },
);

Deno.test(
  "graph.html draws a line for each number in an object, on a phone too",
  needs({ commands: ["chromium"] }),
  async () => {
    await using board = await SimulatedBoard.start("--cors", "--json");
    await board.say('{"model":"Acurite-Tower","t":-21.5,"attic":{"t":20}}');
    await using page = await Page.open(FILE);
    await choose(page, board.host);
    await page.waitForValue(text("figcaption"), [
      "model\nAcurite-Tower",
      "t\n-21.5",
      "attic › t\n20",
    ]);
    await page.waitForValue("document.querySelectorAll('path').length", 2);
    await page.run("Emulation.setDeviceMetricsOverride", {
      width: 360,
      height: 640,
      deviceScaleFactor: 1,
      mobile: true,
    });
    await page.waitForValue(
      "[innerWidth, document.documentElement.scrollWidth]",
      [360, 360],
    );
  },
);

Deno.test(
  "graph.html computes the age from the board's clock",
  needs({ commands: ["chromium"] }),
  async () => {
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "Date",
      "date": "Fri, 20 Nov 2026 17:14:56 GMT",
      "last-modified": "Fri, 20 Nov 2026 17:14:14 GMT",
    };
    await using board = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response("21.5", { headers }),
    );
    await using page = await Page.open(FILE);
    await choose(page, `127.0.0.1:${board.addr.port}`);
    await page.waitForValue(text("p, b"), ["42 s old", "21.5"]);
  },
);

Deno.test(
  "graph.html draws five minutes",
  needs({ commands: ["chromium"] }),
  async () => {
    await using history = await History.open();
    await history.page.waitForValue(text("small :first-child"), [
      "5 min ago",
      "5 min ago",
    ]);
  },
);

let keys = 0; // none is repeated

/** Readings of up to 64 KiB that would occupy the browser, and what it shows. */
const HOSTILE: [
  what: string,
  body: () => BodyInit,
  figures: number,
  text: RegExp,
][] = [
  [
    "an array of many numbers",
    () => `[${Array(32_761).fill(1)}]`,
    100,
    /only 100 of its values are shown$/,
  ],
  [
    "many keys that never repeat",
    () =>
      JSON.stringify(
        Object.fromEntries(
          Array.from({ length: 3500 }, () => [`k${keys++}`, 1]),
        ),
      ),
    100,
    /only 100 of its values are shown$/,
  ],
  [
    "deep arrays",
    () => "[".repeat(30_000) + "]".repeat(30_000),
    1,
    /^Its age is unknown$/,
  ],
  ["no JSON", () => "[".repeat(30_000), 0, /answers without a reading: /],
  ["an empty body", () => "", 0, /answers without a reading: /],
  [
    "an endless body",
    () => {
      const pull = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(new Uint8Array(65_536).fill(0x31));
      return new ReadableStream({ pull });
    },
    0,
    /answers without a reading: more than 65536 characters$/,
  ],
];

for (const [what, body, figures, shown] of HOSTILE) {
  Deno.test(
    `graph.html draws at most a hundred figures of ${what}, and says why`,
    needs({ commands: ["chromium"] }),
    async () => {
      const headers = { "access-control-allow-origin": "*" };
      let count = 0;
      await using board = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        () => {
          count++;
          return new Response(body(), { headers });
        },
      );
      await using page = await Page.open(FILE);
      await page.runFirst(`{
        const { setTimeout } = window;
        window.setTimeout = (run) => setTimeout(run, 0);
      }`);
      await choose(page, `127.0.0.1:${board.addr.port}`);
      await waitFor("20 readings", () => count, (count) => count >= 20);
      await page.waitForValue(
        "document.querySelectorAll('figure').length",
        figures,
      );
      await page.waitForValue(
        `${shown}.test(document.querySelector("p").innerText)`,
        true,
      );
    },
  );
}

Deno.test(
  "graph.html follows no redirect",
  needs({ commands: ["chromium"] }),
  async () => {
    const headers = { "access-control-allow-origin": "*" };
    await using other = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response("21.5", { headers }),
    );
    const location = `http://127.0.0.1:${other.addr.port}/`;
    await using board = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () =>
        new Response(null, { status: 302, headers: { ...headers, location } }),
    );
    await using page = await Page.open(FILE);
    await choose(page, `127.0.0.1:${board.addr.port}`);
    await page.waitForValue(`/does not answer/.test(${text("p")})`, true);
  },
);

/** What a person types or pastes, and the URL of a board where nobody answers. */
const TYPED: [typed: string, url?: string][] = [
  [" http://127.0.0.1:PORT/datasensor "],
  ["LOCALHOST:PORT"],
  ["[::1]:PORT/"],
  ["HTTP://[::1]:PORT/datasensor?x"],
  ["::1", "http://[::1]:5000/datasensor"],
  ["http://2001:db8::7/", "http://[2001:db8::7]:5000/datasensor"],
  ["https://localhost", "https://localhost/datasensor"],
];

Deno.test(
  "graph.html reads the URL that is typed or pasted, or says which one it tried",
  needs({ commands: ["chromium"], missing: [missingAddress("::1")] }),
  async () => {
    await using program = await Program.start(["--cors", "--host", "::"]);
    await using page = await Page.open(FILE);
    await page.runFirst(`{
      const { fetch } = window;
      window.fetch = (url, options) => url.includes(":${program.port}/")
        ? fetch(url, options)
        // Another program could answer there
        : Promise.reject(new TypeError("Failed to fetch"));
    }`);
    for (const [typed, url] of TYPED) {
      await choose(page, typed.replace("PORT", `${program.port}`));
      await page.waitForValue(text("p"), [
        url
          ? `${url} does not answer: is it up, with the flag --cors?`
          : "Its age is unknown",
      ]);
    }
  },
);
