// No text of a client or a sensor holds the program up: 64 KiB of any two tokens of a
// pattern, repeated, take milliseconds, where a quadratic one takes seconds.

import { assert } from "@std/assert";
import { listValues } from "../../src/page/values.js";
import { RawRequest, Service } from "./service.ts";

const TEXT_BYTES = 64 * 1024;

/** Some 150 times what the slowest text takes, and half of what the fastest quadratic one does. */
const LIMIT_MS = 2000;
const ATTEMPTS = 5; // one within the limit is enough: other work may delay some

const SENSORS = ["--stdin", "--stdin --json --key a,b"]
  .map((flags) => new Service(flags));
const FIXED = new Service();

/** Prints a line, and reads the metrics. */
async function print(line: string): Promise<void> {
  for (const service of SENSORS) {
    await service.send(`${line}\n`, 400); // in which it is read
    service.handle(new RawRequest("http://board/metrics", "GET"));
  }
}

/** Sends a text where a request has its URL: as its target, and in its Host field. */
async function request(text: string): Promise<void> {
  for (const url of [`http://board/${text}`, `http://${text}/`]) {
    FIXED.handle(new RawRequest(url, "GET"));
  }
  await FIXED.pass(200); // in which it is logged
}

/** Shows a reading with a key on the page. */
const show = (key: string) => listValues({ reading: { [key]: 1 } });

/** What receives texts, their start, tokens with spaces between them, and ends. */
const RECEIVERS: [
  what: string,
  receive: (text: string) => unknown,
  start: string,
  tokens: string,
  ends: string[],
][] = [
  ["a line", print, "", '1 - . e \xa0 \r [ { , : " \\', ["", "x", ","]],
  ["a string", print, '{"a":"', "1 - . e \\\\ \\ud800 / %", [
    '"}',
    'x"}',
    '",',
  ]],
  ["a key", show, "", "volt temperat dew winddir t _ 1 a \u0301", ["_V", "_X"]],
  ["a target", request, "", 'a %41 % %ff [ ] :1 / @ ? " ° \\', ["", "x", "%"]],
];

for (const [what, receive, start, tokens, ends] of RECEIVERS) {
  Deno.test(`${what} takes no longer than its length`, async () => {
    const words = tokens.split(" ").map((token) => token.replace("\xa0", " "));
    for (const first of words) {
      for (const second of words) {
        for (const end of ends) {
          const room = TEXT_BYTES - start.length - end.length;
          const word = first + second;
          const text = start + word.repeat(room / word.length) + end;
          const took = await measure(() => receive(text));
          assert(took <= LIMIT_MS, `${text.slice(0, 40)}… took ${took} ms`);
        }
      }
    }
  });
}

/** Returns the least time that some attempts take, in ms, or one within the limit. */
async function measure(attempt: () => unknown): Promise<number> {
  let shortest = Infinity;
  for (let i = 0; i < ATTEMPTS && shortest > LIMIT_MS; i++) {
    const start = performance.now();
    await attempt();
    shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}
