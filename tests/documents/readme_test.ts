// The README's commands, as they stand there.

import { assertEquals, assertMatch } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { block } from "../helpers/documents.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import type { Process } from "../helpers/process.ts";

const README = "README.md";
const test = await testOnMachine("python3");

Deno.test("the README shows the text of --help", () => {
  assertEquals(block(README, "Usage: "), `${HELP}\n`);
});

/** Types each command of a block until its answer is as shown, perhaps of another age. */
async function type(machine: Machine, shown: string): Promise<void> {
  for (const part of shown.trim().split("$ ").slice(1)) {
    const [command = "", answer = ""] = part.split("\n");
    const parts = answer.split(/[\d.]+(?= s old)/).map(RegExp.escape);
    const pattern = RegExp(`^${parts.join("[\\d.]+")}\\n?\\[0\\]$`);
    await machine.typeUntil(command.replace("rm ", "rm -f "), pattern);
  }
}

/** Waits until a service has printed lines, perhaps at another time. */
async function prints(service: Process, lines: string[]): Promise<void> {
  for (const line of lines) {
    if (line.includes("192.0.2.7")) continue; // another address here, or none
    const parts = line.split(/\[.*\]/).map(RegExp.escape);
    await service.waitForMatch(RegExp(`^${parts.join("\\[.*\\]")}$`, "m"));
  }
}

test("the README's first command answers and prints as shown", async () => {
  await using machine = await Machine.start();
  const shown = block(README, "$ deno task start\n").trimEnd().split("\n");
  const [start, ...lines] = shown;
  await using service = machine.start("sh", "-c", start!.replace("$ ", ""));
  await type(machine, block(README, '"Sensor data"\n'));
  await prints(service, lines);
});

test("the README's sensor is answered as shown, before and after it dies", async () => {
  await using machine = await Machine.start();
  const start = block(README, "touch plugged-in");
  await using service = machine.start("sh", "-c", start);
  await type(machine, block(README, "$ rm plugged-in"));
  await prints(service, block(README, '" 503 -').trimEnd().split("\n"));
});

const SERVED: [words: string, reading: string][] = [
  ["while echo;", '{"temperature_C": 21.5}'],
  [
    "while sleep 1",
    '{"cellar":{"room": "cellar", "temperature_C": 12.8},"kitchen":{"room": "kitchen", "temperature_C": 21.5}}',
  ],
];

test("the README's programs are served by its commands, which end if the service cannot start", async () => {
  await using machine = await Machine.start();
  const program = block(README, "json.dumps");
  await machine.type(`cat >my-sensor.py <<'END'\n${program}END`);
  for (const [words, reading] of SERVED) {
    const command = block(README, words);
    await using _service = machine.start("sh", "-c", command);
    const read = "curl http://127.0.0.1:5000/datasensor";
    await type(machine, `$ ${read}\n${reading}`);
    await using other = machine.start("sh", "-c", command);
    const { code } = await other.waitForEnd();
    assertEquals(code, 1);
    assertMatch(other.stderr, /another program uses the port/);
  }
});
