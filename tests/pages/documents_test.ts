// The pages are held together with what is tested by their links and their code blocks.
// Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import {
  guide,
  listBrokenLinks,
  readersPage,
  readme,
} from "../helpers/guide.ts";

/** The pages, by the names that tests have for them. */
const PAGES = { guide, readersPage, readme };

Deno.test("every link of a page leads to a file or a section", async () => {
  const files = Object.values(PAGES).map(({ file }) => file);
  const pages = [...files, ...await Array.fromAsync(glob(".github/*.md"))];
  const broken = await Promise.all(pages.map(listBrokenLinks));
  assertEquals(broken.flat(), []);
});

/** Reads all files that match a pattern. */
const read = (pattern: string) =>
  Array.fromAsync(glob(pattern), (file) => Deno.readTextFile(file));

const tests = (await read("tests/**/*_test.ts")).join();
const sessions = (await read("tests/board/*.md")).join();
const examples = await Deno.readTextFile("src/board/examples.conf");

/** What sessions type, and the examples of sensors, which a test runs. */
const TYPED = [
  ...sessions.match(/(?<=^((pc|board)\$|>) ).*$/gm)!,
  ...examples.match(/^(FLAGS|SENSOR)=.*$/gm)!,
];

/** Lines that nobody types, and why. */
const UNTYPED: Record<string, string> = {
  "deno task package": "sessions install what it makes",
  "deno task compile": "a session starts what it makes",
  "git pull": "needs the server of the repository",
  "sudo nano /etc/default/datasensor":
    "needs a person; sessions write the file",
  "IPAddressDeny=any": "needs BPF; last seen on emulated ARM boards",
  "IPAddressAllow=localhost 192.0.2.0/24": "needs BPF, too",
  "sudo apt install curl mosquitto-clients": "needs the network",
  "sudo systemctl enable --now mqtt-BOARD": "starts a unit, which a test runs",
  "sudo systemctl restart datasensor nginx": "a test starts both",
};

for (const [name, page] of Object.entries(PAGES)) {
  Deno.test(`each code block in ${page.file} is run`, () => {
    const select = (method: "block" | "line") =>
      Array.from(
        tests.matchAll(
          RegExp(`\\b${name}\\.${method}\\(\\s*(["'])(.*?)\\1`, "g"),
        ),
        ([, , text]) => page[method](text!.replace("\\n", "\n")),
      );
    const blocks = select("block");
    const lines = [...TYPED, ...select("line")];
    const isRun = (line: string) =>
      line in UNTYPED || lines.some((typed) => typed.includes(line));
    const others = page.blocks.filter((block) =>
      !blocks.includes(block) && !block.trim().split("\n").every(isRun)
    );
    assertEquals(
      others,
      [],
      "Type it in a session of tests/board, or select it in a test",
    );
  });
}
