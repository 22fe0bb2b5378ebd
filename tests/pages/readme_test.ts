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
  Deno.test(skipIf(missingMachine("stdbuf"), name), async () => {
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

test("the README's sensor gives the prompt back if the service cannot start", async (machine) => {
  await using other = machine.startService();
  await other.waitForMatch(/Press CTRL\+C/);
  await using service = machine.start("sh", "-c", SENSOR);
  assertEquals((await service.waitForEnd()).code, 1, service.stderr);
});

/** A sensor that prints, and buffers its output unless it is told not to. */
const MY_SENSOR = `cat >bin/my-sensor <<'END'
#!/bin/sh
{ echo '{"t": 21.50}'; exec sleep 1000; } | cut -c 1-12
END
chmod 755 bin/my-sensor`;

test("the README's command serves a program that buffers its output", async (machine) => {
  await machine.type(`cd ..; ${MY_SENSOR}`);
  await using _service = machine.start(
    "sh",
    "-c",
    readme.block("deno task start --stdin --json --max-age 15"),
  );
  const read = "curl http://127.0.0.1:5000/datasensor";
  await typeUntil(machine, read, '{"t": 21.50}');
});
