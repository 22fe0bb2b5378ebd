// Opens pages in a headless browser, whose time passes as fast as the page permits.

import { fill } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

/**
 * Opens a page, and returns its document as it is after some seconds.
 *
 * @param pending What is in the document until the page has its first answer. The page is
 * then opened again, since its time may be over while the body of a response arrives.
 * @param flags More flags of Chromium, such as `--screenshot=FILE`.
 */
export function render(
  url: string,
  seconds: number,
  pending: string,
  ...flags: string[]
): Promise<string> {
  return waitFor(
    `${url} without "${pending}"`,
    () => open(url, seconds, flags),
    (document) => !document.includes(pending),
  );
}

async function open(
  url: string,
  seconds: number,
  flags: string[],
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
  const page = await Deno.readTextFile("src/readers/graph.html");
  const replaced = `<script>window.fetch = async () => ${fetch}</script>`;
  const changes = {
    '<script type="module">': `${replaced}<script type="module">`,
  };
  await Deno.writeTextFile(file, fetch ? fill(page, changes) : page);
  const pending = "<p>Type a board";
  return await render(`file://${file}?${query}`, seconds, pending, ...flags);
}
