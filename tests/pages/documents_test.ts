// The links and the commands of the pages. Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import { blocksOf, listBrokenLinks } from "../helpers/guide.ts";

Deno.test("every link of a page leads to a file or a section", async () => {
  const pages = glob(["README.md", "src/*/README.md", ".github/*.md"]);
  const broken = await Array.fromAsync(pages, listBrokenLinks);
  assertEquals(broken.flat(), []);
});

/** Copies to a board, logs in to it, waits for a person, or builds. */
const UNTYPED = /^(scp|ssh|nano|systemctl edit|git pull|deno task package)\b/;

/** Returns the commands of a text, without prompts and sudo, each on one line. */
const linesOf = (text: string) =>
  text.replace(/\\\n\s*/g, "").replace(/^ +|\$ |sudo /gm, "").split("\n");

Deno.test("every block of commands of the README and the guide is typed by a test", async () => {
  const files = glob("tests/**/*.{ts,sh,md}");
  const texts = await Array.fromAsync(files, (it) => Deno.readTextFile(it));
  const typed = linesOf(texts.join("\n")).join("\n");
  const isTyped = (line: string) =>
    line !== "" && (UNTYPED.test(line) || typed.includes(line));
  const untyped = ["README.md", "src/board/README.md"]
    .flatMap((page) => blocksOf(page, "sh"))
    .filter((block) => !linesOf(block).some(isTyped));
  assertEquals(untyped, []);
});
