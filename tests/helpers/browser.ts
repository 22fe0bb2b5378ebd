// Opens pages in a headless browser.

import { output } from "./process.ts";

/** Opens a page in Chromium, and returns the HTML that it shows. */
export async function dumpPage(url: string): Promise<string> {
  const { stdout } = await output("chromium", [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--virtual-time-budget=10000", // lets scripts finish their requests
    "--dump-dom",
    url,
  ]);
  return stdout;
}
