// README and the guides are held together with what is tested by their code blocks: each
// command and each setting is typed in a session, or read or quoted by another test.
// Sentences are free.

import { assertEquals } from "@std/assert";
import { listFiles } from "../helpers/files.ts";
import { parseChecks } from "../board/session.ts";

const DOCUMENTS = [
  "README.md",
  "src/board/README.md",
  "src/readers/README.md",
];

/** What nothing here can show, and why. */
const UNTESTED: [part: string, reason: string][] = [
  ["sudo nano ", "an editor needs a person; the sessions write the file"],
  ["IPAddress", "needs BPF; shown on emulated ARM boards until 51a180a"],
  ["git pull", "needs the repository's server"],
  ["package --target=x86_64", "a session installs what it makes"],
  ["restart datasensor nginx", "a test starts nginx with the same file"],
  ["scp BOARD:/etc/nginx", "in the test, nginx and its client share a folder"],
  ["datasensor-mqtt", "a test starts the script that the unit runs"],
  ["install curl mosquitto-clients", "the same"],
  ["src/readers/mosquitto.sh", "the same"],
];

/** The commands that are typed in sessions. */
const TYPED: string[] = [];
for (const file of await listFiles("tests/board", ".md")) {
  for (const { steps } of parseChecks(await Deno.readTextFile(file))) {
    TYPED.push(...steps.map(({ command }) => command));
  }
}

/** The sources of all other tests, and the examples that one of them runs. */
const SOURCES = [
  await Deno.readTextFile("src/board/package/etc/default/datasensor"),
];
for (const file of await listFiles("tests", ".ts")) {
  const isThis = file.endsWith("/documents_test.ts");
  if (!isThis) SOURCES.push(await Deno.readTextFile(file));
}

/** What other tests look up in the blocks of a document, to run it. */
const LOOKED_UP = SOURCES.flatMap((source) =>
  Array.from(
    source.matchAll(/\.(block|line)\(\s*(["'])(.*?)\2\s*,?\s*\)/g),
    ([, what, , text]) => ({ what, text: text!.replaceAll("\\n", "\n") }),
  )
);

/** Returns the lines of a block that are commands or settings. */
function listLines(language: string, block: string): string[] {
  const lines = block.split("\n").map((line) => line.trim()).filter(Boolean);
  if (language === "text") return [];
  if (language !== "console") return lines;
  return lines.filter((line) => line.startsWith("$ "))
    .map((line) => line.slice(2));
}

/** Whether a line of a block is typed, quoted or looked up by a test. */
function isTested(line: string, block: string): boolean {
  const text = line.replace(/\s+#.*$/, "").replace(/\s*(\\|\|)$/, "");
  return TYPED.some((command) => command.includes(text)) ||
    SOURCES.some((source) => source.includes(text)) ||
    LOOKED_UP.some(({ what, text }) =>
      (what === "block" ? block : line).includes(text)
    );
}

for (const document of DOCUMENTS) {
  Deno.test(`each command and setting in ${document} is in a session or a test`, async () => {
    const text = await Deno.readTextFile(document);
    const missing: string[] = [];
    for (const match of text.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
      const [, language, block] = match as unknown as [string, string, string];
      const lines = listLines(language, block)
        .filter((line) => !UNTESTED.some(([part]) => line.includes(part)));
      missing.push(...lines.filter((line) => !isTested(line, block)));
    }
    const remedy =
      "Type these lines in a session of tests/board, or name them in UNTESTED of tests/pages/documents_test.ts, with the reason";
    assertEquals(missing, [], remedy);
  });
}

Deno.test("what is listed as untested is in a document", async () => {
  const texts = await Promise.all(DOCUMENTS.map((it) => Deno.readTextFile(it)));
  const unused = UNTESTED.map(([part]) => part)
    .filter((part) => !texts.some((text) => text.includes(part)));
  assertEquals(unused, []);
});
