// Which lines are readings, of which sensor, and why others are none.

import { assertEquals } from "@std/assert";
import {
  createJsonParser,
  type LineParser,
  parseText,
} from "../../../src/sensor/line_parser.ts";
import { testProperty } from "../../helpers/random.ts";

const { fromHex } = Uint8Array;

/** Returns a reading with its sensor, or the start of what is wrong with a line. */
function parse(parser: LineParser, line: string | Uint8Array): string {
  const bytes = typeof line === "string"
    ? new TextEncoder().encode(line)
    : line;
  const parsed = parser(bytes);
  if ("json" in parsed) {
    return parsed.name === undefined
      ? parsed.json
      : `${parsed.name}: ${parsed.json}`;
  }
  return parsed.problem.replace("Dropping ", "");
}

const NOT_JSON = "lines that are not JSON";
const NULL = "lines that are null";
const LONG_NAME = "lines with a name of over 200 characters";
const NO_NAME = "lines without a key that --key names";
const DOT_NAME = 'lines whose name is "." or ".."';
const UNSAFE_NAME = "lines with a number above 9007199254740991 in their name";

Deno.test("parseText() makes a JSON string of any line", () => {
  for (const line of ["21.5", "null", "{", '"a"', "\ufeff\\ °"]) {
    assertEquals(parse(parseText, line), JSON.stringify(line));
  }
  assertEquals(parse(parseText, fromHex("61ff")), '"a\ufffd"');
});

Deno.test("createJsonParser() accepts JSON texts unchanged", () => {
  const parser = createJsonParser();
  const deep = "[".repeat(30_000) + "]".repeat(30_000);
  const lines = ['{"t": 21.50}', "12345678901234567890", ' [1, "°"] ', "false"];
  for (const line of [...lines, deep]) {
    assertEquals(parse(parser, line), line);
  }
});

Deno.test("createJsonParser() rejects what is not JSON, or null", () => {
  const parser = createJsonParser();
  const lines = ["21,5", "NaN", "-inf", "}", "]", "1 2", "undefined"];
  const invalidUtf8 = fromHex("22ff22");
  const byteOrderMark = fromHex("efbbbf31");
  for (const line of [...lines, invalidUtf8, byteOrderMark]) {
    assertEquals(parse(parser, line), NOT_JSON);
    assertEquals(parse(parser, "2"), "2");
  }
  for (const line of ["null", " null\t"]) {
    assertEquals(parse(parser, line), NULL);
    assertEquals(parse(parser, "2"), "2");
  }
});

/** Lines that are printed one after the other, and what each is. */
const SEQUENCES: [what: string, lines: [line: string, result: string][]][] = [
  ["an indented object with a list", [
    ["{", NOT_JSON],
    ['  "t"', NOT_JSON], // and a colon on the next line
    ["{", NOT_JSON],
    ['  "history": [', NOT_JSON],
    ["    1", NOT_JSON],
    ["  ]", NOT_JSON],
    ["}", NOT_JSON],
    ["3", "3"],
  ]],
  ["a list that is indented with tabs, with spaces after its commas", [
    ["[ ", NOT_JSON],
    ['\t{"a":1}, \t', NOT_JSON],
    ["\tnull, ", NOT_JSON],
    ["\t2", NOT_JSON],
    ["]", NOT_JSON],
    ["[]", "[]"],
  ]],
  ["an indented reading after any other line", [
    [" 1", " 1"],
    ["2 :", NOT_JSON],
    [" 3", " 3"],
    ['"{"', '"{"'],
    ["\t4", "\t4"],
    ["\r5,", NOT_JSON],
    ["\r6", "\r6"],
  ]],
  ["a comma after each reading", [
    ["21.5,", NOT_JSON],
    ["22,", NOT_JSON],
    ["23", "23"],
  ]],
  ["words before a reading", [
    ["Reading the sensor,", NOT_JSON],
    ["21.5", "21.5"],
    ["Reading the sensor,", NOT_JSON],
    [" 21.5", NOT_JSON], // as in a list
    [" 22", " 22"],
  ]],
];

for (const [what, lines] of SEQUENCES) {
  Deno.test(`createJsonParser() tells readings from pieces of a text: ${what}`, () => {
    const parser = createJsonParser();
    const results = lines.map(([line]) => [line, parse(parser, line)]);
    assertEquals(results, lines);
  });
}

/** Lines, and the names of their sensors by model, channel and id, or what is wrong. */
const NAMES: [line: string, name: string][] = [
  ['{"model":"LaCrosse-WS3600","id":"7"}', "LaCrosse-WS3600//7"],
  ['{"model":"a/b%","channel":1.0,"id":true}', "a%2Fb%25/1/true"],
  ['{"id":1,"id":433.92}', "//433.92"],
  ['{"id":-9007199254740991}', "//-9007199254740991"],
  [String.raw`{"id":"\ud800"}`, "//\ufffd"], // Prometheus gets no other text
  // JSON.parse() rounds these
  ['{"id":9007199254740992}', UNSAFE_NAME],
  ['{"model":"a","channel":-12345678901234567890}', UNSAFE_NAME],
  ['{"id":null,"channel":[1],"model":{"id":1}}', NO_NAME],
  ['[{"id":1}]', NO_NAME],
];

for (const [line, name] of NAMES) {
  Deno.test(`createJsonParser() names the sensor of ${line}`, () => {
    const parser = createJsonParser(["model", "channel", "id"]);
    const expected = name.startsWith("lines") ? name : `${name}: ${line}`;
    assertEquals(parse(parser, line), expected);
  });
}

/** Values of a key, each of which JSON.parse() reads back. */
const VALUES = ["", "a", "/", "%", "%2F", 1, true, null];

testProperty(
  "createJsonParser() gives two sensors one name only if all values are the same text",
  10_000,
  (random) => {
    const keys = ["a", "b", "c"].slice(random.below(3));
    const parser = createJsonParser(keys);
    const [one, other] = random.list(2, () => {
      const values = keys.map(() => random.pick(VALUES));
      const entries = values.map((value, index) => [keys[index], value]);
      const line = JSON.stringify(Object.fromEntries(entries));
      const texts = values.map((value) => value === null ? "" : `${value}`);
      return { name: parse(parser, line).split(": ")[0], texts: texts.join() };
    });
    assertEquals(one!.name === other!.name, one!.texts === other!.texts);
  },
);

Deno.test("createJsonParser() takes the value of a single key as it is", () => {
  const parser = createJsonParser(["room"]);
  for (const name of ["living room", "a/b%", "/", "7"]) {
    const line = JSON.stringify({ room: name });
    assertEquals(parse(parser, line), `${name}: ${line}`);
  }
  assertEquals(parse(parser, '{"room":""}'), NO_NAME);
});

Deno.test("createJsonParser() drops lines whose name has no address", () => {
  const parser = createJsonParser(["room"]);
  const nameOf = (room: string) => parse(parser, JSON.stringify({ room }));
  for (const room of [".", ".."]) assertEquals(nameOf(room), DOT_NAME);
  for (const room of ["...", "a.", "./a"]) {
    assertEquals(nameOf(room).split(":")[0], room);
  }
});

Deno.test("createJsonParser() drops lines with a name of over 200 characters", () => {
  const parser = createJsonParser(["room", "place"]);
  const nameOf = (length: number) =>
    parse(parser, JSON.stringify({ room: "/", place: "x".repeat(length) }));
  assertEquals(nameOf(196).split(":")[0]!.length, 200);
  assertEquals(nameOf(197), LONG_NAME);
});

Deno.test("createJsonParser() finds only keys that an object has itself", () => {
  for (const key of ["__proto__", "constructor", "toString", "length", "0"]) {
    const parser = createJsonParser([key]);
    for (const line of ["{}", "[1]", '"a"']) {
      assertEquals(parse(parser, line), NO_NAME);
    }
    const line = `{"${key}":"a"}`;
    assertEquals(parse(parser, line), `a: ${line}`);
  }
});

Deno.test("createJsonParser() with keys reads each line by itself, since sensors print in turn", () => {
  const parser = createJsonParser(["id"]);
  const lines = ['{"id":01}', "{", ' {"id":1}', "21.5,", '{"id":2}', "null"];
  const results = lines.map((line) => parse(parser, line));
  const readings = ['1:  {"id":1}', NOT_JSON, '2: {"id":2}', NULL];
  assertEquals(results, [NOT_JSON, NOT_JSON, ...readings]);
});
