// The README's commands, as they stand there.

import { assertEquals } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { block, blocksOf } from "../helpers/guide.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";

const README = "README.md";
const ALIVE = block(README, '"Sensor data"\n');
const DEAD = block(README, "$ rm plugged-in");
const READ = "$ curl http://127.0.0.1:5000/datasensor";
const LOOPS = blocksOf(README).filter((it) => /^while [^[].*; done/m.test(it));
const test = testOnMachine("python3");

Deno.test("the README shows the text of --help", () => {
  assertEquals(block(README, "Usage: "), `${HELP}\n`);
});

/** Starts commands, and types those of a block until each has its answer, of any age. */
async function follow(machine: Machine, start: string, shown: string) {
  await using _service = machine.start("sh", "-c", start);
  for (const part of shown.trim().split(/^\$ /m).slice(1)) {
    const [command = "", answer = ""] = part.split("\n");
    const parts = answer.split(/[\d.]+(?= s old)/).map(RegExp.escape);
    const pattern = RegExp(`^${parts.join("[\\d.]+")}\\n?\\[0\\]$`);
    await machine.typeUntil(command.replace("rm ", "rm -f "), pattern);
  }
}

test("the README's commands are answered as shown, with a fixed text, and before and after a sensor dies", async () => {
  await using machine = await Machine.start();
  await follow(machine, block(README, "deno task start\n"), ALIVE);
  await follow(machine, block(README, "touch plugged-in"), DEAD);
});

test("the README's loop serves its Python program, which goes on to run", async () => {
  await using machine = await Machine.start();
  const program = block(README, "json.dumps");
  const serve = async (program: string, loop: string) => {
    const end = "import time\ntime.sleep(1000)\nEND";
    await machine.type(`cat >my-sensor.py <<'END'\n${program}${end}`);
    await follow(machine, loop, `${READ}\n{"temperature_C": 21.5}`);
  };
  // Each without what the other one makes unnecessary
  await serve(program, LOOPS[0]!.replace(" -u", ""));
  await serve(program.replace(", flush=True", ""), LOOPS[0]!);
});

test("each loop of the README ends if the service cannot start", async () => {
  await using machine = await Machine.start();
  await using other = machine.startService();
  await other.waitForMatch(/Press CTRL\+C/);
  await machine.type(`echo 'print(21.5)' >my-sensor.py
    printf '#!/bin/sh\\nexec deno task start "$@"' >datasensor
    chmod 755 datasensor`);
  for (const loop of LOOPS) {
    await using started = machine.start("sh", "-c", loop);
    assertEquals((await started.waitForEnd()).code, 1, started.stderr);
  }
});
