// The links of the pages. Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import { listBrokenLinks } from "../helpers/guide.ts";

Deno.test("every link of a page leads to a file or a section", async () => {
  const pages = glob(["README.md", "src/*/README.md", ".github/*.md"]);
  const broken = await Array.fromAsync(pages, listBrokenLinks);
  assertEquals(broken.flat(), []);
});
