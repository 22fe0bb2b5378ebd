// What a browser shows, and what it lets pages of other origins read.

import { assertMatch } from "@std/assert";
import { render } from "./chromium.ts";
import { needs } from "../helpers/needs.ts";
import { Program } from "../helpers/program.ts";

const NEEDED = needs({ commands: ["chromium"] });

Deno.test("Chromium shows the data in quotes", NEEDED, async () => {
  await using program = await Program.start();
  const document = await render(program.url, 1, "<body></body>");
  assertMatch(document, />"Sensor data"<\/pre>/);
});

/** Returns a page that shows what it can read, with and without a preflight. */
const createPage = (url: string) =>
  `<p></p><script type="module">
    const show = (text) => document.querySelector("p").textContent = text;
    try {
      const simple = await (await fetch("${url}")).json();
      const headers = { "x-custom": "1" };
      const preflighted = await (await fetch("${url}", { headers })).json();
      const missing = await fetch("${url}/");
      show([simple, preflighted, missing.status].join());
    } catch (error) {
      show("blocked");
    }
  </script>`;

for (
  const [can, args, shown] of [
    ["cannot read the data", [], "blocked"],
    ["can read it with --cors", ["--cors"], "Sensor data,Sensor data,404"],
  ] as const
) {
  Deno.test(`a page of another origin ${can}`, NEEDED, async () => {
    await using program = await Program.start([...args]);
    const headers = { "content-type": "text/html" };
    await using site = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response(createPage(program.url), { headers }),
    );
    const url = `http://127.0.0.1:${site.addr.port}/`;
    const document = await render(url, 1, "<p></p>");
    assertMatch(document, RegExp(`<p>${shown}</p>`));
    await program.waitForLines(1); // even a blocked page sends its request
  });
}
