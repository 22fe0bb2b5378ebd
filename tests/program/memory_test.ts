// Memory: nothing that clients or sensors send again and again makes the program grow.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { get, getMany } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import {
  countDescriptors,
  missingProc,
  residentMemory,
} from "../helpers/resources.ts";
import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

const LIMIT_MB = 144; // above which the program would close all connections

/** Asserts that a program has never used much memory. */
async function assertSmall({ pid }: Program): Promise<void> {
  const memory = await residentMemory(pid, "VmHWM");
  assert(memory < LIMIT_MB, `It took ${memory} MB`);
}

/** Defines a test of a program that must be measured. */
function test(name: string, run: () => Promise<void>): void {
  Deno.test(skipIf(missingProc, name), run);
}

test("the program uses no more memory and files after many requests", async () => {
  await using program = await Program.start();
  const ask = (count: number) =>
    getMany(program.port, count, (number) => `/${number}`.padEnd(200, "x"));
  await ask(10_000);
  const before = await residentMemory(program.pid);
  const files = await countDescriptors(program.pid);
  await ask(20_000);
  const after = await residentMemory(program.pid);
  assert(after < 1.1 * before, `It grew from ${before} to ${after} MB`);
  const count = () => countDescriptors(program.pid);
  await waitFor(`${files} open files`, count, (open) => open <= files);
});

test("the program does not fill its memory with keys that never repeat", async () => {
  const options = { hasInput: true };
  await using program = await Program.start(["--stdin", "--json"], options);
  const keys = 4000;
  let line = "";
  for (let count = 0; count < 100 * keys; count += keys) {
    const numbers = Array.from({ length: keys }, (_, i) => count + i);
    line = `{${numbers.map((number) => `"k${number}":1`)}}`;
    await program.write(`${line}\n`); // waits for the program to read
  }
  await program.waitForAnswer(line);
  await assertSmall(program);
  assertEquals(program.messages, []);
});

const FORGED = `seq -f '{"id":%.0f,"t":21.5}' 1000000000 | "$@"`;

test("the program answers while a flood forges the names of sensors, and keeps few", async () => {
  const options = { wrap: ["sh", "-c", FORGED, "sh"], killGroup: true };
  const args = ["--stdin", "--json", "--key", "id"];
  await using program = await Program.start(args, options);
  const last = async () => {
    const names = Object.keys(await (await get(program.url)).json());
    await (await get(program.url.replace("datasensor", "metrics"))).text();
    return Number(names.at(-1) ?? 0);
  };
  await waitFor("the name 20,000", last, (name) => name > 20_000);
  await assertSmall(program);
  const read = () => program.messages;
  const [warning, ...others] = await waitFor("a warning", read, ([it]) => !!it);
  assertMatch(warning!, /^WARN Forgetting the sensors .* such as "\d+"$/);
  assertEquals(others, []);
});
