import { assertEquals } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { HELP } from "../../src/command_line.ts";
import { Folder } from "../helpers/files.ts";
import { lacksCommand, testUnless } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";

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
