// The manual page, which is written by hand.

import { assertEquals } from "@std/assert";
import { FLAGS } from "../../src/process/command_line.ts";

const PACKAGE = "src/board/package";
const PAGE = await Deno.readTextFile(
  `${PACKAGE}/usr/share/man/man1/datasensor.1`,
);

Deno.test("the manual page describes every flag", () => {
  const described = PAGE.replaceAll("\\-", "-").match(/(?<=^\.B )-.*/gm);
  const flags = FLAGS.map(({ names, value }) =>
    names.join(", ") + (value ? ` ${value.name}` : "")
  );
  assertEquals(described, flags);
});

Deno.test("the files that the manual page names are in the package", async () => {
  const files = PAGE.match(/(?<=^\.I )\/(etc|usr)\/.*/gm)!;
  for (const file of files) {
    // Documents are in the folders of the repository
    const document = file.split("/usr/share/doc/datasensor/")[1];
    await Deno.stat(document ?? `${PACKAGE}${file}`);
  }
});
