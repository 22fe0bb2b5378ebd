// What README.md prints, and whether the units are valid.

import { assertEquals } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { HELP } from "../../src/command_line.ts";
import { Folder } from "../helpers/files.ts";
import { Guide } from "../helpers/guide.ts";
import { lacksCommand, testUnless } from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { command, Program } from "../helpers/program.ts";

/** Copies units into a folder. */
async function copyUnits(folder: Folder, ...names: string[]): Promise<void> {
  await Deno.mkdir(`${folder.path}/datasensor.service.d`, { recursive: true });
  for (const name of names) {
    const unit = (await Deno.readTextFile(`.board/systemd/${name}`))
      // It looks whether the program is there
      .replaceAll("/usr/local/bin/datasensor ", "/bin/true ");
    await Deno.writeTextFile(`${folder.path}/${name}`, unit);
  }
}

/** Fails if systemd finds anything wrong with units in a folder. */
async function verify(folder: Folder, ...names: string[]): Promise<void> {
  const files = names.map((name) => `${folder.path}/${name}`);
  const result = await output("systemd-analyze", ["verify", ...files]);
  assertEquals(result, { code: 0, signal: null, stdout: "", stderr: "" });
}

/** Fails if the service of a folder is exposed more than 1.5 of 10. */
async function assertHardened(folder: Folder): Promise<void> {
  const { code, stdout } = await output("systemd-analyze", [
    "security",
    "--offline=true",
    "--threshold=15",
    "--no-pager",
    `${folder.path}/datasensor.service`,
  ]);
  assertEquals(code, 0, stdout);
}

const README = await Deno.readTextFile("README.md");

Deno.test("the README shows the text of --help", () => {
  const [, block] = README.match(/```text\n(.*?)\n```/s)!;
  assertEquals(block, HELP);
});

Deno.test("the README shows the command that the task start runs", () => {
  const [, command] = README.match(/\nTask start (.*)\n/)!;
  assertEquals(command, project.tasks.start.command);
});

/** A sensor command of the README, what replaces the device, and the reading. */
const SENSORS: [text: string, replace: [string, string][], body: string][] = [
  [
    "thermal_zone0",
    [
      ["cat /sys/class/thermal/thermal_zone0/temp", "echo 42000"],
      ["sleep 5", "sleep 0.1"],
    ],
    '"42000"',
  ],
  [
    "rtl_433",
    [["rtl_433 -F json", `printf '{"temperature_C": 21.50}\\n'`]],
    '{"temperature_C": 21.50}',
  ],
];

for (const [text, replacements, body] of SENSORS) {
  Deno.test(`the README's command with ${text} feeds the service`, async () => {
    let line = (await Guide.read("README.md")).block(text);
    const run = command(["--port", "0"]).flat().map((word) => `'${word}'`);
    for (
      const [printed, used] of [
        ...replacements,
        ["./datasensor", run.join(" ")] as const,
      ]
    ) {
      assertEquals(line.includes(printed), true, printed);
      line = line.replace(printed, used);
    }
    const options = { startsOthers: true };
    await using program = new Program("sh", ["-c", line], options);
    await program.listening();
    await program.waitFor(async () =>
      await (await get(program.url)).text() === body
    );
  });
}

testUnless(
  await lacksCommand("systemd-analyze"),
  "the board's systemd units are valid, and the service is hardened",
  async () => {
    using folder = await Folder.create();
    await copyUnits(folder, "datasensor.service");
    await verify(folder, "datasensor.service");
    await assertHardened(folder);

    const others = ["datasensor.socket", "temperature.service"];
    await copyUnits(folder, "datasensor.service.d/10-sensor.conf", ...others);
    await verify(folder, "datasensor.service", ...others);
    await assertHardened(folder);
  },
);
