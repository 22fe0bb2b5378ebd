// The links of the documents, and the version of Deno that they name. Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import { listBrokenLinks } from "../helpers/documents.ts";

Deno.test("every link of a document leads to a file or a section", async () => {
  const documents = glob(["README.md", "src/*/README.md", ".github/*.md"]);
  const broken = await Array.fromAsync(documents, listBrokenLinks);
  assertEquals(broken.flat(), []);
});

Deno.test("the README names the oldest Deno that the tasks accept", async () => {
  const oldest = (await Deno.readTextFile(".dvmrc")).trim();
  const readme = await Deno.readTextFile("README.md");
  const named = readme.match(/(?<=\(https:\/\/deno.com\) |deno@)[\d.]+\d/g);
  assertEquals(named, [oldest, oldest]);
});
