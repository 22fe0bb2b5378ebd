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
const LONG_NAME = "lines with a name of over 200 characters";
const PIECE = "JSON texts over several lines";
const NO_NAME = "lines without a key that --key names";

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
  ["words, numbers and punctuation before a reading", [
    ["[info] reading:", NOT_JSON],
    ["1", "1"],
    ["2026-11-25 12:00:00 kitchen:", NOT_JSON],
    ["2", "2"],
    ["[MQTT] Payload:", NOT_JSON],
    ["3", "3"],
    ["12:30:01 data:", NOT_JSON],
    ["4", "4"],
    ["-> Payload:", NOT_JSON],
    ["5", "5"],
    ["--- Uplink:", NOT_JSON],
    ["6", "6"],
    ["2026-11-25 10:00:01,123 INFO publishing:", NOT_JSON],
    ["7", "7"],
    ["'t': 21.5,", NOT_JSON],
    ["8", "8"],
    ["True,", NOT_JSON],
    ["9", "9"],
  ]],
  // In a JSON text, a colon follows a string only, and a number has no leading zero
  ["a time before a reading", [
    ["12:30:01:", NOT_JSON],
    ["1", "1"],
    ["[12:30:01]:", NOT_JSON],
    ["2", "2"],
    ["2026-11-25,", NOT_JSON],
    ["3", "3"],
    ["007,", NOT_JSON],
    ["4", "4"],
  ]],
  // What a JSON text could contain is a piece, even if it is printed as words
  ["tokens before a reading", [
    ["21.5,", PIECE],
    ["1", PIECE],
    ["-1.5e-3, true, null ,", PIECE],
    ["2", PIECE],
    ['"kitchen" :', PIECE],
    ["3", PIECE],
    ["[1] [", PIECE],
    ["4", PIECE],
    [String.raw`"a\"b\\", {`, PIECE],
    ["5", PIECE],
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
  ['{"id":42,"channel":1,"model":"Nexus-TH"}', "Nexus-TH/1/42"],
  ['{"model":"LaCrosse-WS3600","id":"7"}', "LaCrosse-WS3600//7"],
  ['{"model":"a","channel":"","id":null}', "a"],
  ['{"channel":1}', "/1"],
  ['{"channel":1.0}', "/1"],
  ['{"channel":"1"}', "/1"],
  ['{"channel":1e0}', "/1"],
  ['{"id":-0.50}', "//-0.5"],
  ['{"id":true,"channel":false}', "/false/true"],
  ['{"model":"a/b%","id":"/"}', "a%2Fb%25//%2F"],
  [String.raw`{"id":"a\"b\\"}`, '//a"b\\'],
  ['{"id":"a.b"}', "//a.b"],
  ['{"id":"__proto__"}', "//__proto__"],
  ['{"id":1,"id":2}', "//2"],
  // Prometheus gets no other text
  [String.raw`{"id":"\ud800"}`, "//\ufffd"],
  // Integers that a number of JavaScript cannot hold
  ['{"id":9007199254740993}', "//9007199254740993"],
  ['{"id" : 9007199254740992 }', "//9007199254740992"],
  ['{"id":-12345678901234567890}', "//-12345678901234567890"],
  ['{"id":"9007199254740993"}', "//9007199254740993"],
  ['{"id":1000000000000000}', "//1000000000000000"],
  ['{"id":1000000000000000.0}', "//1000000000000000"],
  ['{"id":0.10000000000000000}', "//0.1"],
  ['{"id":1e400}', "//Infinity"],
  [String.raw`{"id":"\",1234567890123456789"}`, '//",1234567890123456789'],
  [
    `{"x":${"[".repeat(9000)}${"]".repeat(9000)},"id":9007199254740993}`,
    "//9007199254740993",
  ],
  // No name
  ['{"time":1}', undefined],
  ["{}", undefined],
  ['{"id":"","channel":""}', undefined],
  ['{"id":null,"channel":[1],"model":{"id":1}}', undefined],
  ['[{"id":1}]', undefined],
  ['"id"', undefined],
  ["21.5", undefined],
  ["12345678901234567890", undefined],
];

for (const [line, name] of NAMES) {
  Deno.test(`createJsonParser() names the sensor of ${line.slice(0, 80)}`, () => {
    const parser = createJsonParser(["model", "channel", "id"]);
    const expected = name === undefined ? NO_NAME : `${name}: ${line}`;
    assertEquals(parse(parser, line), expected);
  });
}

Deno.test("createJsonParser() takes the value of a single key as it is", () => {
  const parser = createJsonParser(["room"]);
  for (const name of ["living room", "a/b%", "/", "7"]) {
    const line = JSON.stringify({ room: name });
    assertEquals(parse(parser, line), `${name}: ${line}`);
  }
  assertEquals(parse(parser, '{"room":""}'), NO_NAME);
});

/** Different objects, which must have different names. */
const DIFFERENT = [
  { room: "living room", place: "window" },
  { room: "living", place: "room window" },
  { room: "living/room", place: "window" },
  { room: "living", place: "room/window" },
  { room: "living%2Froom", place: "window" },
  { room: "window" },
  { place: "window" },
];

Deno.test("createJsonParser() never gives two sensors one name", () => {
  const parser = createJsonParser(["room", "place"]);
  const names = DIFFERENT.map((it) =>
    parse(parser, JSON.stringify(it)).split(": ")[0]
  );
  assertEquals(new Set(names).size, DIFFERENT.length, `${names}`);
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
