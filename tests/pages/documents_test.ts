// The links and the commands of the pages. Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import { blocksOf, listBrokenLinks } from "../helpers/guide.ts";

Deno.test("every link of a page leads to a file or a section", async () => {
  const pages = glob(["README.md", "src/*/README.md", ".github/*.md"]);
  const broken = await Array.fromAsync(pages, listBrokenLinks);
  assertEquals(broken.flat(), []);
});

/** Returns the first two words of each command of a text, without prompts and sudo. */
const commandsOf = (text: string) =>
  text.match(/(?<=^ *(?:\$ )?(?:sudo )?)(?!sudo |\$ )\S+ \S+/gm) ?? [];

Deno.test("every block of commands of the README and the guide is typed by a test, unless it is for a person", async () => {
  const files = glob("tests/**/*.{ts,sh,bash}");
  const tests = await Array.fromAsync(files, (it) => Deno.readTextFile(it));
  const typed = tests.join("\n");
  const isPerson = /^(scp|ssh|nano|git|systemctl edit|deno task package)/;
  const untyped = ["README.md", "src/board/README.md"]
    .flatMap((page) => blocksOf(page, "sh").map(commandsOf))
    .filter((all) =>
      !all.some((it) => isPerson.test(it) || typed.includes(it))
    );
  assertEquals(untyped, []);
});
