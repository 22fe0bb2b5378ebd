// What a browser shows, and what it lets pages of other origins read.

import { Page } from "./browser.ts";
import { needs } from "../helpers/needs.ts";
import { Program } from "../helpers/program.ts";

Deno.test(
  "Chromium shows the data in quotes",
  needs({ commands: ["chromium"] }),
  async () => {
    await using program = await Program.start();
    await using page = await Page.open(program.url);
    const shown = 'document.querySelector("pre")?.textContent';
    await page.waitForValue(shown, '"Sensor data"');
  },
);

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
  Deno.test(
    `a page of another origin ${can}`,
    needs({ commands: ["chromium"] }),
    async () => {
      await using program = await Program.start([...args]);
      const headers = { "content-type": "text/html" };
      await using site = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        () => new Response(createPage(program.url), { headers }),
      );
      const url = `http://127.0.0.1:${site.addr.port}/`;
      await using page = await Page.open(url);
      const text = 'document.querySelector("p")?.textContent';
      await page.waitForValue(text, shown);
      await program.waitForLines(1); // even a blocked page sends its request
    },
  );
}
