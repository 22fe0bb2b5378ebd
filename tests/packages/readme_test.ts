// Checks README.md against the source, and the systemd units.

import { assert, assertEquals } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { OLDEST_DENO } from "../../.tools/oldest_deno.ts";
import { HELP } from "../../src/command_line.ts";
import { CAPACITY_BYTES } from "../../src/line_writer.ts";
import { MAX_LINE_BYTES } from "../../src/sensor.ts";
import { Folder } from "../helpers/files.ts";
import { Guide } from "../helpers/guide.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";

const README = await Guide.read("README.md");

Deno.test("the README shows the text of --help", () => {
  assertEquals(README.block("Usage: "), `${HELP}\n`);
});

Deno.test("the README shows the command that `deno task start` runs", () => {
  const { start } = project.tasks;
  assertEquals(README.line("Task start "), `Task start ${start.command}`);
});

Deno.test("README and guide state the limits of the source", async () => {
  const text = await Deno.readTextFile("README.md") +
    await Deno.readTextFile(".board/README.md");
  const words = text.replace(/\s+/g, " ");
  const lines = `${CAPACITY_BYTES / 2 ** 20} MiB of lines`;
  const longest = `longer than ${MAX_LINE_BYTES / 2 ** 10} KiB`;
  for (const limit of [lines, longest, `${OLDEST_DENO} or newer`]) {
    assert(words.includes(limit), limit);
  }
});

/** Declares a test of a sensor's command, with parts of it replaced. */
function testSensor(
  name: string,
  replacements: Record<string, string>,
  reading: string,
): void {
  Deno.test(`the README's command with ${name} feeds the service`, async () => {
    const run = programCommand(["--port", "0"]).flat().map((word) =>
      `'${word}'`
    );
    const all = { ...replacements, "./datasensor": run.join(" ") };
    let line = README.block(name);
    for (const [printed, used] of Object.entries(all)) {
      assert(line.includes(printed), printed);
      line = line.replace(printed, used);
    }
    const options = { killGroup: true };
    await using program = new Program("sh", ["-c", line], options);
    await program.waitUntilListening();
    await program.waitFor(async () =>
      await (await get(program.url)).text() === reading
    );
  });
}

testSensor("thermal_zone0", {
  "cat /sys/class/thermal/thermal_zone0/temp": "echo 42000",
  "sleep 5": "sleep 0.1",
}, '"42000"');

testSensor("rtl_433", {
  "rtl_433 -F json": `printf '{"temperature_C": 21.50}\\n'`,
}, '{"temperature_C": 21.50}');

testUnless(
  await missingCommand("systemd-analyze"),
  "the board's systemd units are valid, and the service is hardened",
  async () => {
    using folder = await Folder.create();
    const script = `
      check() {
        systemd-analyze verify "$@"
        systemd-analyze security --offline=true --threshold=15 --no-pager "$1"
      }
      cp -R .board/systemd/. "$0"
      cd "$0"
      # systemd checks that the program exists
      sed -i "s|/usr/local/bin/datasensor |/bin/true |" datasensor.service *.d/*
      check ./datasensor.service ./datasensor.socket ./temperature.service
      rm -r datasensor.service.d datasensor.socket temperature.service
      check ./datasensor.service`;
    const args = ["-ec", script, folder.path];
    const { code, stdout, stderr } = await output("sh", args);
    assertEquals([code, stderr], [0, ""], stdout);
  },
);
