// Which lines are readings, of which sensor, and why others are none.

import { assertEquals } from "@std/assert";
import {
  createJsonParser,
  type LineParser,
  parseText,
} from "../../../src/sensor/line_parser.ts";
import { MAX_LINE_BYTES } from "../../../src/sensor/line_reader.ts";

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
const PIECE = "JSON texts over several lines";
const NO_KEY = "lines without a key that --key names";

Deno.test("parseText() makes a JSON string of any line", () => {
  for (const line of ["21.5", "null", "{", '"a"', "\ufeff\\ °"]) {
    assertEquals(parse(parseText, line), JSON.stringify(line));
  }
  assertEquals(parse(parseText, fromHex("61ff")), '"a\ufffd"');
});

Deno.test("createJsonParser() accepts JSON texts unchanged", () => {
  const parser = createJsonParser();
  for (
    const line of [
      '{"t": 21.50}',
      "12345678901234567890",
      ' [1, "°"] ',
      "[null]",
      '"null"',
      "false",
      "[".repeat(30_000) + "]".repeat(30_000),
    ]
  ) {
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
  ["an object with a list", [
    ["{", PIECE],
    ['  "value": 197915,', PIECE],
    ['  "history": [', PIECE],
    ["    1,", PIECE],
    ["    2", PIECE],
    ["  ]", NOT_JSON],
    ["}", NOT_JSON],
    ["3", "3"],
  ]],
  ["a list of objects and a null", [
    ["[ ", PIECE],
    ['{"a":1},\t', PIECE],
    ["{}, ", PIECE],
    ["null", PIECE],
    ["]", NOT_JSON],
    ["[]", "[]"],
  ]],
  ["a value on the line after its key", [
    ['{"a":', PIECE],
    ["21.5", PIECE],
    ["}", NOT_JSON],
    ["2", "2"],
  ]],
  ["a true within a list", [
    ["[", PIECE],
    ["true,", PIECE],
    ["2", PIECE],
  ]],
  ["a label before a reading", [
    ["Temperature:", NOT_JSON],
    ["21.5", "21.5"],
    ["Reading the sensor,", NOT_JSON],
    ["22", "22"],
    ["trueish [", NOT_JSON],
    ["23", "23"],
  ]],
  ["a comma at the start of a line", [
    ["[1", NOT_JSON],
    [", 2", NOT_JSON],
    ["[[3,", PIECE],
    ["4]]", PIECE],
    ["5", "5"],
  ]],
  ["texts that end with a string", [
    ['"{"', '"{"'],
    ["1", "1"],
    ['["a,"]', '["a,"]'],
    ["2", "2"],
  ]],
  ["a null, which is no piece", [
    ["null", NULL],
    ["1", "1"],
  ]],
  ["invalid UTF-8 and a comma", [
    ['["\ud800",', PIECE],
    ["1", PIECE],
    ["2", "2"],
  ]],
];

for (const [what, lines] of SEQUENCES) {
  Deno.test(`createJsonParser() tells pieces of a text from readings: ${what}`, () => {
    const parser = createJsonParser();
    const results = lines.map(([line]) => [line, parse(parser, line)]);
    assertEquals(results, lines);
  });
}

/** Lines, and the names of their sensors by model, channel and id. */
const NAMES: [line: string, name: string | undefined][] = [
  ['{"id":42,"channel":1,"model":"Nexus-TH"}', "Nexus-TH 1 42"],
  ['{"model":"Nexus-TH","id":"42"}', "Nexus-TH 42"],
  ['{"channel":1}', "1"],
  ['{"channel":1.0}', "1"],
  ['{"channel":"1"}', "1"],
  ['{"channel":1e0}', "1"],
  ['{"id":-0.50}', "-0.5"],
  ['{"id":true,"channel":false}', "false true"],
  ['{"id":""}', ""],
  ['{"id":"","channel":""}', " "],
  [String.raw`{"id":"a\"b\\"}`, 'a"b\\'],
  ['{"id":"a.b"}', "a.b"],
  ['{"id":"__proto__"}', "__proto__"],
  ['{"id":1,"id":2}', "2"],
  // Integers that a number of JavaScript cannot hold
  ['{"id":9007199254740993}', "9007199254740993"],
  ['{"id" : 9007199254740992 }', "9007199254740992"],
  ['{"id":-12345678901234567890}', "-12345678901234567890"],
  ['{"id":"9007199254740993"}', "9007199254740993"],
  ['{"id":1000000000000000}', "1000000000000000"],
  ['{"id":1000000000000000.0}', "1000000000000000"],
  ['{"id":0.10000000000000000}', "0.1"],
  ['{"id":1e400}', "Infinity"],
  [String.raw`{"id":"\",1234567890123456789"}`, '",1234567890123456789'],
  [
    `{"x":${"[".repeat(9000)}${"]".repeat(9000)},"id":9007199254740993}`,
    "9007199254740993",
  ],
  // No name
  ['{"time":1}', undefined],
  ["{}", undefined],
  ['{"id":null,"channel":[1],"model":{"id":1}}', undefined],
  ['[{"id":1}]', undefined],
  ['"id"', undefined],
  ["21.5", undefined],
  ["12345678901234567890", undefined],
];

for (const [line, name] of NAMES) {
  Deno.test(`createJsonParser() names the sensor of ${line.slice(0, 80)}`, () => {
    const parser = createJsonParser(["model", "channel", "id"]);
    const expected = name === undefined ? NO_KEY : `${name}: ${line}`;
    assertEquals(parse(parser, line), expected);
  });
}

Deno.test("createJsonParser() finds only keys that an object has itself", () => {
  for (const key of ["__proto__", "constructor", "toString", "length", "0"]) {
    const parser = createJsonParser([key]);
    for (const line of ["{}", "[1]", '"a"']) {
      assertEquals(parse(parser, line), NO_KEY);
    }
    const line = `{"${key}":"a"}`;
    assertEquals(parse(parser, line), `a: ${line}`);
  }
});

Deno.test("createJsonParser() rejects with keys what it rejects without", () => {
  const parser = createJsonParser(["id"]);
  const lines = ['{"id":0123456789012345678}', '{"id":1', "null", "{", "{}"];
  const problems = [NOT_JSON, NOT_JSON, NULL, PIECE, PIECE];
  assertEquals(lines.map((line) => parse(parser, line)), problems);
});

Deno.test("createJsonParser() names the sensor of the longest line", () => {
  const parser = createJsonParser(["id"]);
  for (const part of ["1,", "12345678901234567,", '"\\\\",', '"[",']) {
    const items = part.repeat((MAX_LINE_BYTES - 40) / part.length);
    const line = `{"id":9007199254740993,"x":[${items}0]}`;
    assertEquals(parse(parser, line), `9007199254740993: ${line}`);
  }
});
