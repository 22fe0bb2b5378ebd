// Skips tests that this machine cannot run.

/** Defines a test. */
export type Test = (
  name: string,
  run: (test: Deno.TestContext) => void | Promise<void>,
) => void;

/**
 * Returns what defines tests that are skipped if this machine lacks one of some programs or
 * files. Deno hides the files in /proc, /sys and some in /dev from tests.
 *
 * @example
 * testWith("curl")("curl reads it", async () => {});
 *
 * @throws {Error} In CI, where everything must be installed: a run that skips a test
 * would look like one that passes.
 */
export function testWith(...names: string[]): Test {
  const folders = Deno.env.get("PATH")?.split(":") ?? [];
  const missing = names.find((name) => {
    const places = folders.map((folder) => `${folder}/${name}`);
    return !(name.startsWith("/") ? [name] : places).some(exists);
  });
  if (missing && Deno.env.has("CI")) throw new Error(`Install ${missing}`);
  return (name, run) => Deno.test(name, { ignore: !!missing }, run);
}

function exists(path: string): boolean {
  try {
    return !!Deno.statSync(path);
  } catch {
    return false;
  }
}
