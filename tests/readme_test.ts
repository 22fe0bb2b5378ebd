import { assertEquals } from "@std/assert";
import { HELP } from "../src/flags.ts";
import { isMissing, output } from "./helpers/program.ts";

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

Deno.test({
  name: "the README's systemd unit is valid and hardened (needs systemd)",
  ignore: await isMissing("systemd-analyze"),
  fn: async () => {
    const folder = await Deno.makeTempDir();
    const file = `${folder}/datasensor.service`;
    try {
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
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
