// The README's commands, as they stand there.

import { assertEquals } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { block, blocksOf } from "../helpers/guide.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";

const README = "README.md";
const ALIVE = block(README, '"Sensor data"\n');
const DEAD = block(README, "$ rm plugged-in");
const LOOPS = blocksOf(README).filter((it) => it.includes("; done |\n  "))
  .filter((it) => !it.includes("plugged-in"));
const test = testOnMachine("python3");

Deno.test("the README shows the text of --help", () => {
  assertEquals(block(README, "Usage: "), `${HELP}\n`);
});

/** Types each command of a block until its answer is as shown, perhaps of another age. */
async function type(machine: Machine, shown: string): Promise<void> {
  for (
    const [command = "", answer = ""] of shown.trim().split(/^\$ /m).slice(1)
      .map((part) => part.split("\n"))
  ) {
    const parts = answer.split(/[\d.]+(?= s old)/).map(RegExp.escape);
    const pattern = RegExp(`^${parts.join("[\\d.]+")}\\n?\\[0\\]$`);
    await machine.typeUntil(command.replace("rm ", "rm -f "), pattern);
  }
}

test("the README's commands are answered as shown, with a fixed text, and before and after a sensor dies", async () => {
  await using machine = await Machine.start();
  for (
    const [start, shown] of [["deno task start\n", ALIVE], [
      "touch plugged-in",
      DEAD,
    ]] as const
  ) {
    await using _service = machine.start("sh", "-c", block(README, start));
    await type(machine, shown);
  }
});

test("the README's loop serves its Python program, which goes on to run", async () => {
  await using machine = await Machine.start();
  const program = `${
    block(README, "json.dumps")
  }\nimport time\ntime.sleep(1000)\n`;
  for (
    const [python, loop] of [ // each without what the other one makes unnecessary
      [program, LOOPS[0]!.replace(" -u", "")],
      [program.replace(", flush=True", ""), LOOPS[0]!],
    ] as const
  ) {
    await machine.type(`cat >my-sensor.py <<'END'\n${python}END`);
    await using _service = machine.start("sh", "-c", loop);
    await type(
      machine,
      '$ curl http://127.0.0.1:5000/datasensor\n{"temperature_C": 21.5}',
    );
  }
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
