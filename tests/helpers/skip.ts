// Skips tests that this machine cannot run.

/**
 * Returns the name and options of a test that is skipped for a reason, if there is one.
 * The reason says what to do, and becomes part of the name.
 *
 * @example
 * Deno.test(skipIf(missing("curl"), "curl reads it"), async () => {});
 *
 * @throws {Error} In CI, where everything must be installed: a run that skips a test
 * would look like one that passes.
 */
export function skipIf(
  reason: string | undefined,
  name: string,
): { name: string; ignore: boolean } {
  if (reason === undefined) return { name, ignore: false };
  if (Deno.env.has("CI")) throw new Error(`To test "${name}", ${reason}`);
  return { name: `${name} (to run it, ${reason})`, ignore: true };
}

/**
 * Returns how to get one of some programs or files that this machine lacks. Deno hides the
 * files in /proc, /sys and some in /dev from tests.
 */
export function missing(...names: string[]): string | undefined {
  const folders = Deno.env.get("PATH")?.split(":") ?? [];
  for (const name of names) {
    const isFile = name.startsWith("/");
    const places = isFile ? [name] : folders.map((it) => `${it}/${name}`);
    if (places.some(exists)) continue;
    return isFile ? `use a system that has ${name}` : `install ${name}`;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
