// The page that draws the readings of a board, in a browser.
//
// As a program, it draws README's picture.
//
// Usage: graph.ts FILE

import { Page } from "./browser.ts";

/** The page on the disk. */
export const FILE = `file://${await Deno.realPath(
  "src/board/examples/graph.html",
)}`;

/** Types the name of a board. */
export async function choose(page: Page, board: string): Promise<void> {
  await page.run("Runtime.evaluate", {
    expression: `document.querySelector("input").value = "${board}";
      document.querySelector("button").click()`,
  });
  await page.waitForValue(
    "location.search",
    `?${new URLSearchParams({ board })}`,
  );
}

const BOARD = "raspberrypi.local";
const END_MS = 360_000; // a minute more than the page shows

/** Lets the page's time pass at once, until its end, and leads it to this machine. */
const hurry = (port: number) =>
  `{
  const { fetch, setTimeout } = window;
  let now = 0;
  performance.now = () => now;
  window.setTimeout = (run, ms) => {
    now += ms;
    if (now < ${END_MS}) setTimeout(run, 0);
  };
  window.fetch = (url, options) =>
    fetch(url.replace("${BOARD}:5000", "127.0.0.1:${port}"), options);
}`;

/** Returns a reading of a room that is being heated, after a number of others. */
function roomReading(count: number): string {
  const warmth = 1 - Math.exp(-count / 60);
  const ripple = Math.sin(count / 3) + Math.sin(count * 1.7);
  const round = (value: number) => Math.round(value * 10) / 10;
  return JSON.stringify({
    temperature_C: round(19.4 + 2.3 * warmth + 0.05 * ripple),
    humidity: round(51.5 - 6.4 * warmth + 0.2 * ripple),
  });
}

/** The page after five minutes of readings, which pass at once. */
export class History implements AsyncDisposable {
  static async open(): Promise<History> {
    await using stack = new AsyncDisposableStack();
    const now = Date.now();
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "Date",
      "date": new Date(now).toUTCString(),
      "last-modified": new Date(now - 2000).toUTCString(),
    };
    let count = 0;
    const { addr } = stack.use(Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response(roomReading(count++), { headers }),
    ));
    const page = stack.use(await Page.open(FILE));
    await page.runFirst(hurry(addr.port));
    const size = { width: 720, height: 480, deviceScaleFactor: 1 };
    await page.run("Emulation.setDeviceMetricsOverride", {
      ...size,
      mobile: false,
    });
    await choose(page, BOARD);
    await page.waitForValue("performance.now()", END_MS);
    return new History(page, stack.move());
  }

  private constructor(
    readonly page: Page,
    private readonly stack: AsyncDisposableStack,
  ) {}

  /** Draws it to a PNG file. */
  async draw(file: string): Promise<void> {
    const { result } = await this.page.run("Page.captureScreenshot");
    await Deno.writeFile(file, Uint8Array.fromBase64(result.data));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stack.disposeAsync();
  }
}

if (import.meta.main) {
  await using history = await History.open();
  await history.draw(Deno.args[0]!);
}
