// What a browser shows, and what it lets a page of another origin read.

import { assertEquals, assertMatch } from "@std/assert";
import { dumpPage, lacksBrowser } from "../helpers/browser.ts";
import { testUnless } from "../helpers/machine.ts";
import { Program } from "../helpers/program.ts";

testUnless(lacksBrowser, "Chromium shows the data in quotes", async () => {
  await using program = await Program.start();
  assertMatch(
    await dumpPage(program.url),
    /<pre[^>]*>"Sensor data"<\/pre>/,
  );
});

/** A page that asks for the data, and shows what becomes of it. */
const PAGE = (url: string) =>
  `<p>asking</p><script type="module">
    const show = (text) => document.querySelector("p").textContent = text;
    try {
      const simple = await (await fetch("${url}")).json();
      const headers = { "x-asks": "first" };
      const preflighted = await (await fetch("${url}", { headers })).json();
      const missing = await fetch("${url}/");
      show([simple, preflighted, missing.status].join());
    } catch (error) {
      show("It may not");
    }
  </script>`;

for (
  const [does, args, shown] of [
    ["does not let", [], "It may not"],
    ["lets", ["--cors"], "Sensor data,Sensor data,404"],
  ] as const
) {
  const flags = args.join(" ") || "no flag";
  testUnless(
    lacksBrowser,
    `Chromium ${does} a page of another origin read the data with ${flags}`,
    async () => {
      await using program = await Program.start([...args]);
      await using site = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        () =>
          new Response(PAGE(program.url), {
            headers: { "content-type": "text/html" },
          }),
      );
      const page = await dumpPage(`http://127.0.0.1:${site.addr.port}/`);
      assertEquals(page.match(/<p>(.*)<\/p>/)?.[1], shown, page);
      await program.waitForLines(1); // it has been asked all the same
    },
  );
}
