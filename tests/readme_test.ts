import { assertEquals } from "@std/assert";
import { HELP } from "../src/flags.ts";
import { Folder } from "./helpers/files.ts";
import { lacksCommand, testUnless } from "./helpers/machine.ts";
import { output } from "./helpers/process.ts";

const README = await Deno.readTextFile("README.md");

/** The first block of code in the README behind a text. */
function blockBehind(text: string): string {
  const start = README.indexOf("```", README.indexOf(text));
  const from = README.indexOf("\n", start) + 1;
  return README.slice(from, README.indexOf("```", from));
}

/** Writes the units into a folder, each under the name that the README gives. */
async function writeUnits(folder: Folder, ...names: string[]): Promise<void> {
  await Deno.mkdir(`${folder.path}/datasensor.service.d`, { recursive: true });
  for (const name of names) {
    const unit = blockBehind(`\`/etc/systemd/system/${name}\``)
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

Deno.test("the README shows the text of --help", () => {
  assertEquals(blockBehind("## Flags"), `${HELP}\n`);
});

testUnless(
  await lacksCommand("systemd-analyze"),
  "the README's systemd units are valid, and the service is hardened",
  async () => {
    using folder = await Folder.create();
    await writeUnits(folder, "datasensor.service");
    await verify(folder, "datasensor.service");
    await assertHardened(folder);

    const others = ["datasensor.socket", "temperature.service"];
    await writeUnits(folder, "datasensor.service.d/sensor.conf", ...others);
    await verify(folder, "datasensor.service", ...others);
    await assertHardened(folder);
  },
);
