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

/** Asserts that copies of units are valid, and that the service is hardened. */
async function assertUnits(...names: string[]): Promise<void> {
  using folder = await Folder.create();
  await Deno.mkdir(`${folder.path}/datasensor.service.d`);
  for (const name of names) {
    const unit = (await Deno.readTextFile(`.board/systemd/${name}`))
      // systemd checks that the program exists
      .replaceAll("/usr/local/bin/datasensor ", "/bin/true ");
    await Deno.writeTextFile(`${folder.path}/${name}`, unit);
  }
  const units = names.filter((name) => !name.endsWith(".conf"));
  const files = units.map((name) => `${folder.path}/${name}`);
  const { code, stdout, stderr } = await output("systemd-analyze", [
    "verify",
    ...files,
  ]);
  assertEquals([code, stdout, stderr], [0, "", ""]);
  const flags = ["--offline=true", "--threshold=15", "--no-pager"];
  const args = ["security", ...flags, `${folder.path}/datasensor.service`];
  const security = await output("systemd-analyze", args);
  assertEquals(security.code, 0, security.stdout);
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
    const service = "datasensor.service";
    await assertUnits(service);
    const sensor = [`${service}.d/10-sensor.conf`, "datasensor.socket"];
    await assertUnits(service, ...sensor, "temperature.service");
  },
);
