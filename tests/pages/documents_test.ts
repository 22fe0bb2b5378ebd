// The links of the pages. Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import { listBrokenLinks } from "../helpers/guide.ts";

const PAGES = ["README.md", "src/*/README.md", ".github/*.md"];

Deno.test("every link of a page leads to a file or a section", async () => {
  const pages = await Array.fromAsync(glob(PAGES));
  const broken = await Promise.all(pages.map(listBrokenLinks));
  assertEquals(broken.flat(), []);
});
