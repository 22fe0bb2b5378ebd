// The page with graphs, after five minutes of readings and one without. As a program, it
// draws README's picture.
//
// Usage: deno run -P=tests $(deno task -q _std_flags) tests/readers/picture.ts FILE

import { renderGraph } from "./chromium.ts";

/** Readings of a room that is being heated, until the sensor dies. */
const FETCH = `{
  const count = Math.round(performance.now() / 2000);
  const silence = 2 * (count - 150);
  if (silence > 15) {
    const detail = "The last reading is " + silence + ".1 s old: the limit is 15 s (--max-age)";
    return Response.json({ detail }, { status: 503 });
  }
  const warmth = 1 - Math.exp(-count / 60);
  const ripple = Math.sin(count / 3) + Math.sin(count * 1.7);
  const round = (value) => Math.round(value * 10) / 10;
  const reading = {
    temperature_C: round(19.4 + 2.3 * warmth + 0.05 * ripple),
    humidity: round(51.5 - 6.4 * warmth + 0.2 * ripple),
  };
  const headers = {
    "date": "Fri, 20 Nov 2026 17:14:56 GMT",
    "last-modified": "Fri, 20 Nov 2026 17:14:54 GMT",
  };
  return Response.json(reading, { headers });
}`;

/** Returns the page after six minutes of readings, which pass at once. */
export async function renderHistory(...flags: string[]): Promise<string> {
  return await renderGraph("raspberrypi.local", 360, FETCH, ...flags);
}

if (import.meta.main) {
  const [file] = Deno.args;
  await renderHistory(`--screenshot=${file}`, "--window-size=720,520");
}
