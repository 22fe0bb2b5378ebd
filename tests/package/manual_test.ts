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

/** Where the repository has what the build puts into folders of the package. */
const SOURCES = {
  "/usr/share/datasensor": "src/readers",
  "/usr/share/doc/datasensor/src": "src",
  "/usr/share/doc/datasensor": ".",
};

Deno.test("the files that the manual page names are in the package", async () => {
  for (const [file] of PAGE.matchAll(/(?<=^\.I )\/(etc|usr)\/.*/gm)) {
    const source = Object.entries(SOURCES).find(([folder]) =>
      file.startsWith(folder)
    );
    const path = source && file.replace(...source);
    await Deno.stat(path ?? `${PACKAGE}${file}`);
  }
});
