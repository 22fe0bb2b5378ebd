// Opens pages in a headless browser, whose time passes as fast as the page permits.

import { fill } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

/**
 * Opens a page, and returns its document as it is after some seconds.
 *
 * @param flags More flags of Chromium, such as `--screenshot=FILE`.
 */
export async function render(
  url: string,
  seconds: number,
  ...flags: string[]
): Promise<string> {
  using folder = await Folder.create();
  const { code, stdout, stderr } = await output("chromium", [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    `--user-data-dir=${folder.path}`,
    `--virtual-time-budget=${seconds * 1000}`,
    "--dump-dom",
    ...flags,
    url,
  ], { killGroup: true });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/**
 * Opens the page that draws the readings of a board.
 *
 * @param fetch What it uses instead of the network, during which time may pass.
 */
export async function renderGraph(
  board: string,
  seconds: number,
  fetch?: string,
  ...flags: string[]
): Promise<string> {
  const query = new URLSearchParams({ board });
  using folder = await Folder.create();
  const file = `${folder.path}/graph.html`;
  const page = await Deno.readTextFile("src/board/examples/graph.html");
  const replaced = `<script>window.fetch = async () => ${fetch}</script>`;
  const changes = {
    '<script type="module">': `${replaced}<script type="module">`,
  };
  await Deno.writeTextFile(file, fetch ? fill(page, changes) : page);
  return await render(`file://${file}?${query}`, seconds, ...flags);
}
