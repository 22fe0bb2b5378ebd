// deno-lint-ignore-file no-console -- what it prints is its purpose

/**
 * Prints the flags that make Deno take the @std packages from elsewhere where
 * jsr.io cannot be reached and they are not cached; otherwise nothing.
 *
 * Any other failure, that of an integrity check above all, prints nothing too:
 * the command that wanted the flags then fails by it and says so.
 *
 * @module
 */

const { success, stderr } = await new Deno.Command(Deno.execPath(), {
  args: ["cache", "--quiet", "main.ts", "tests/handler_test.ts"],
  env: { NO_COLOR: "1" },
}).output();

// Deno's words for a registry that gives no answer, or a proxy's
const unreachable = /^error: .*Import '\S+' failed(\.|: (?!404)\d)/;

if (!success && unreachable.test(new TextDecoder().decode(stderr))) {
  console.error("jsr.io cannot be reached: @std comes from npm and .tools/std");
  console.log(
    "--import-map=.tools/std/import_map.json --lock=.tools/std/deno.lock",
  );
}
