// Skips tests that this machine cannot run.

/** Defines a test. */
export type Test = (
  name: string,
  run: (test: Deno.TestContext) => void | Promise<void>,
) => void;

/** What has been said to be missing. Each file of tests has this set for itself. */
const said = new Set<string>();

/**
 * Returns what defines tests or, if this machine lacks something, skips them: for the same
 * lack, a file has only one skipped test, whose name says what is missing.
 *
 * @throws {Error} In CI, where nothing may be missing: a run that skips a test would look
 * like one that passes.
 */
export function testUnless(lack: string | undefined): Test {
  if (!lack) return Deno.test;
  if (Deno.env.has("CI")) throw new Error(lack);
  if (!said.has(lack)) Deno.test.ignore(`(skipped: ${lack})`, () => {});
  said.add(lack);
  return () => {};
}

/**
 * Returns what is missing of some programs and files, if anything is. Deno hides the files in
 * /proc, /sys and some in /dev from tests.
 */
export function findMissing(...names: string[]): string | undefined {
  const folders = Deno.env.get("PATH")?.split(":") ?? [];
  const missing = names.find((name) => {
    const places = folders.map((folder) => `${folder}/${name}`);
    return !(name.startsWith("/") ? [name] : places).some(exists);
  });
  return missing && `${missing} is missing: install it`;
}

/** Returns what defines tests that need programs or files, as testUnless() does. */
export function testWith(...names: string[]): Test {
  return testUnless(findMissing(...names));
}

function exists(path: string): boolean {
  try {
    return !!Deno.statSync(path);
  } catch {
    return false;
  }
}
