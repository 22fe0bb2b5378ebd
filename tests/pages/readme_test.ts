// The README's commands, as they stand there.

import { assertEquals } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { readme } from "../helpers/guide.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";
import { skipIf } from "../helpers/skip.ts";

Deno.test("the README shows the text of --help", () => {
  assertEquals(readme.block("Usage: "), `${HELP}\n`);
});

/** Defines a test that types commands. */
function test(name: string, run: (machine: Machine) => Promise<void>): void {
  Deno.test(skipIf(missingMachine("python3"), name), async () => {
    await using machine = await Machine.start();
    await run(machine);
  });
}

/** Types a command until its answer is as shown, perhaps of another age. */
async function typeUntil(machine: Machine, command: string, answer: string) {
  const parts = answer.split(/[\d.]+(?= s old)/).map(RegExp.escape);
  const pattern = RegExp(`^${parts.join("[\\d.]+")}\\n?\\[0\\]$`);
  await machine.typeUntil(command.replace("$ ", ""), pattern);
}

test("the README's first command serves the fixed text", async (machine) => {
  const [read, text] = readme.block('"Sensor data"\n').split("\n");
  const start = readme.block("deno task start\n");
  await using _service = machine.start("sh", "-c", start);
  await typeUntil(machine, read!, text!);
});

const SENSOR = readme.block("touch plugged-in");

test("the README's sensor is answered as shown, before and after it dies", async (machine) => {
  const [read, reading, stop, , problem] = readme.block("$ rm plugged-in")
    .split("\n") as [string, string, string, string, string];
  await using _service = machine.start("sh", "-c", SENSOR);
  await typeUntil(machine, read, reading);
  await machine.type(stop.replace("$ ", ""));
  await typeUntil(machine, read, problem);
});

const PYTHON = readme.block("json.dumps");
const LOOP = readme.block("sleep 5; done |\n  deno");

/** The README's program and command, each without what the other one makes unnecessary. */
for (
  const [what, program, command] of [
    ["flushes its output", PYTHON, LOOP.replace(" -u", "")],
    ["does not", PYTHON.replace(", flush=True", ""), LOOP],
  ] as const
) {
  test(`the README's command serves a Python program that ${what}`, async (machine) => {
    await machine.type(`cat >my-sensor.py <<'END'
${program}
import time
time.sleep(1000)
END`);
    await using _service = machine.start("sh", "-c", command);
    const read = "curl http://127.0.0.1:5000/datasensor";
    await typeUntil(machine, read, '{"temperature_C": 21.5}');
  });
}

const LOOPS = readme.blocks.filter((block) => block.includes("done |"));

test("each loop of the README ends if the service cannot start", async (machine) => {
  await using other = machine.startService();
  await other.waitForMatch(/Press CTRL\+C/);
  await machine.type(`echo 'print(21.5)' >my-sensor.py
    printf '#!/bin/sh\\nexec deno task start "$@"' >datasensor
    chmod 755 datasensor`);
  assertEquals(LOOPS.length, 3);
  await using loops = new AsyncDisposableStack();
  const started = LOOPS.flatMap((loop) =>
    ["sh", "bash"].map((shell) => loops.use(machine.start(shell, "-c", loop)))
  );
  for (const loop of started) {
    assertEquals((await loop.waitForEnd()).code, 1, loop.stderr);
  }
});
