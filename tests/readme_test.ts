import { assertEquals } from "@std/assert";
import { HELP } from "../src/flags.ts";
import { Folder } from "./helpers/files.ts";
import { lacksCommand, testUnless } from "./helpers/machine.ts";
import { output } from "./helpers/process.ts";

const README = await Deno.readTextFile("README.md");

/** The README's first block of code in a language. */
function block(language: string): string {
  const start = README.indexOf(`\`\`\`${language}\n`);
  const from = README.indexOf("\n", start) + 1;
  return README.slice(from, README.indexOf("```", from));
}

Deno.test("the README shows the text of --help", () => {
  assertEquals(block("text"), `${HELP}\n`);
});

testUnless(
  await lacksCommand("systemd-analyze"),
  "the README's systemd unit is valid and hardened",
  async () => {
    using folder = await Folder.create();
    const file = `${folder.path}/datasensor.service`;
    // It looks whether the program is there
    const unit = block("ini").replace(
      "/usr/local/bin/datasensor ",
      "/bin/true ",
    );
    await Deno.writeTextFile(file, unit);
    const verify = await output("systemd-analyze", ["verify", file]);
    assertEquals(verify, { code: 0, signal: null, stdout: "", stderr: "" });
    const security = await output("systemd-analyze", [
      "security",
      "--offline=true",
      "--threshold=15", // exposure 1.5
      "--no-pager",
      file,
    ]);
    assertEquals(security.code, 0, security.stdout);
  },
);
