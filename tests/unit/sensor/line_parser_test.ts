// Which lines are readings, of which sensor, and why others are none.

import { assertEquals } from "@std/assert";
import {
  createJsonParser,
  type LineParser,
  parseText,
} from "../../../src/sensor/line_parser.ts";

const { fromHex } = Uint8Array;

/** Returns a reading after its sensor, or the start of what is wrong with a line. */
function parse(parser: LineParser, line: string | Uint8Array): string {
  const parsed = parser(
    typeof line === "string" ? new TextEncoder().encode(line) : line,
  );
  if ("problem" in parsed) return parsed.problem.replace("Dropping ", "");
  const { name, json } = parsed;
  return name === undefined ? json : `${name}: ${json}`;
}

const NOT_JSON = "lines that are not JSON";
const NULL = "lines that have no value but null";
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

Deno.test("createJsonParser() accepts JSON texts unchanged, and rejects others and null", () => {
  const parser = createJsonParser();
  const deep = "[".repeat(30_000) + "]".repeat(30_000);
  const lines = ['{"t": 21.50}', "12345678901234567890", ' [1, "°"] ', "false"];
  for (const line of [...lines, deep]) {
    assertEquals(parse(parser, line), line);
  }
  const invalid = ["21,5", "NaN", "-inf", "}", "]", "1 2", "undefined"];
  const bytes = [fromHex("22ff22"), fromHex("efbbbf31")]; // no UTF-8, and a BOM
  for (const line of [...invalid, ...bytes]) {
    assertEquals(parse(parser, line), NOT_JSON);
    assertEquals(parse(parser, "2"), "2");
  }
  for (const line of ["null", " null\t"]) {
    assertEquals(parse(parser, line), NULL);
  }
});

Deno.test("createJsonParser() rejects what has no value but null, to a depth of ten", () => {
  const parser = createJsonParser();
  const nest = (depth: number) =>
    `${"[".repeat(depth)}null${"]".repeat(depth)}`;
  for (const line of ['{"a":{"t":null},"b":[null]}', nest(10)]) {
    assertEquals(parse(parser, line), NULL);
  }
  for (const line of ["{}", '{"t":null,"u":[]}', "[null,false]", nest(11)]) {
    assertEquals(parse(parser, line), line);
  }
});

/** Lines that are printed one after the other. Those after a bar are no readings. */
const SEQUENCES: Record<string, string> = {
  "an indented object with a list":
    '|{\n|  "t"\n|{\n|  "history": [\n|    1\n|  ]\n|}\n3',
  "a list that is indented with tabs, with spaces after its commas":
    '|[ \n|\t{"a":1}, \t\n|\tnull, \n|\t2\n|]\n[]',
  "an indented reading after any other line":
    ' 1\n|2 :\n 3\n"{"\n\t4\n|\r5,\n\r6',
  "a comma after each reading": "|21.5,\n|22,\n23",
  "words before a reading, which may be a list":
    "|Reading it,\n21.5\n|Reading it,\n| 21.5\n 22",
};

for (const [what, marked] of Object.entries(SEQUENCES)) {
  Deno.test(`createJsonParser() tells readings from pieces of a text: ${what}`, () => {
    const parser = createJsonParser();
    const results = marked.split("\n").map((line) => {
      const text = line.replace(/^\|/, "");
      const result = parse(parser, text);
      return result === NOT_JSON ? `|${text}` : result;
    });
    assertEquals(results.join("\n"), marked);
  });
}

const long = (length: number) => "x".repeat(length);

/** Keys, and lines with the names of their sensors, or what is wrong with them. */
const NAMES: Record<string, Record<string, string>> = {
  "model,channel,id": {
    '{"model":"LaCrosse-WS3600","id":"7"}': "LaCrosse-WS3600//7",
    '{"model":"a/b%","channel":1.0,"id":true}': "a%2Fb%25/1/true",
    '{"model":"a%2Fb","channel":""}': "a%252Fb",
    '{"channel":"a","id":null}': "/a",
    '{"id":1,"id":433.92}': "//433.92",
    '{"id":-9007199254740991}': "//-9007199254740991",
    '{"id":"\\ud800"}': "//\ufffd", // Prometheus gets no other text
    // JSON.parse() rounds these
    '{"id":9007199254740992}': UNSAFE_NAME,
    '{"model":"a","channel":-12345678901234567890}': UNSAFE_NAME,
    '{"id":null,"channel":[1],"model":{"id":1}}': NO_NAME,
    '[{"id":1}]': NO_NAME,
    [`{"model":"/","id":"${long(196)}"}`]: LONG_NAME,
    [`{"model":"/","id":"${long(195)}"}`]: `%2F//${long(195)}`,
  },
  "room": { // a single key has no separator
    '{"room":"living room"}': "living room",
    '{"room":"a/b%"}': "a/b%",
    '{"room":"/"}': "/",
    '{"room":""}': NO_NAME,
    '{"room":"."}': DOT_NAME, // clients take it for a part of a path
    '{"room":".."}': DOT_NAME,
    '{"room":"..."}': "...",
    '{"room":"./a"}': "./a",
  },
  // What an object inherits is none of its values
  "__proto__": { "{}": NO_NAME, '{"__proto__":"a"}': "a" },
  "constructor": { "{}": NO_NAME, '{"constructor":"a"}': "a" },
  "length": { "[1]": NO_NAME, '"a"': NO_NAME, '{"length":"a"}': "a" },
  "0": { "[1]": NO_NAME, '"a"': NO_NAME, '{"0":"a"}': "a" },
  // Sensors print in turn: each line is read by itself
  "id": {
    '{"id":01}': NOT_JSON,
    "{": NOT_JSON,
    ' {"id":1}': "1",
    "21.5,": NOT_JSON,
    ' {"id":2}': "2",
    "null": NULL,
    '{"id":1,"t":null}': NULL,
    '{"id":1,"t":{"id":2,"u":null}}': "1", // only the names of the sensor itself are left out
  },
};

for (const [keys, lines] of Object.entries(NAMES)) {
  Deno.test(`createJsonParser() names sensors by ${keys}`, () => {
    const parser = createJsonParser(keys.split(","));
    for (const [line, name] of Object.entries(lines)) {
      const expected = name.startsWith("lines") ? name : `${name}: ${line}`;
      assertEquals(parse(parser, line), expected, line);
    }
  });
}
