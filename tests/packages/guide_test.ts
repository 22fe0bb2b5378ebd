// Every text that a test looks up in the guide or README is there: rewording one fails
// here within a second, rather than after the board has booted.

import { assert } from "@std/assert";
import { guide, readme } from "../helpers/guide.ts";
import { output } from "../helpers/process.ts";

const DOCUMENTS = { guide, readme };

/** A call that looks something up, up to its argument. */
const LOOKUP = /\b(guide|readme)\s*\.(block|line|match)\(\s*/g;

type Call = [
  start: string,
  document: keyof typeof DOCUMENTS,
  method: "block" | "line" | "match",
];

/** A literal as its only argument. */
const STRING = /^("(?:[^"\\\n]|\\.)*"),?\s*\)/;
const PATTERN = /^\/((?:[^/\\\n]|\\.)+)\/([a-z]*),?\s*\)/;

/** Looks up what a call does, of which this is the source text from its argument on. */
function lookUp(
  document: typeof guide,
  method: Call[2],
  argument: string,
): void {
  const [, text] = argument.match(STRING) ?? [];
  const [, pattern, flags] = argument.match(PATTERN) ?? [];
  if (method === "match") {
    assert(pattern, `No literal pattern: match(${argument.split("\n")[0]}`);
    document.match(RegExp(pattern, flags));
  } else {
    assert(text, `No literal text: ${method}(${argument.split("\n")[0]}`);
    document[method](JSON.parse(text));
  }
}

const { stdout } = await output("find", ["tests", "-name", "*.ts"]);

for (const file of stdout.trim().split("\n").toSorted()) {
  const source = await Deno.readTextFile(file);
  const calls = [...source.matchAll(LOOKUP)];
  if (calls.length === 0) continue;
  Deno.test(`the guide and README have what ${file} looks up`, () => {
    for (const call of calls) {
      const [start, document, method] = call as unknown as Call;
      const argument = source.slice(call.index + start.length);
      lookUp(DOCUMENTS[document], method, argument);
    }
  });
}
