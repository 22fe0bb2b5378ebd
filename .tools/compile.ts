// deno-lint-ignore-file no-console -- what it prints is its purpose

/**
 * Compiles the service: the arguments are the processor, the flags that the
 * executable runs with and, unless it is dist, the folder that gets it.
 *
 * @module
 */

const [processor, ...flags] = Deno.args;
const folder = flags.at(-1)?.startsWith("-") ? "dist" : flags.pop();
const name = `datasensor-${processor}`;
const file = `${folder}/${name}`;

/** Compiles, and tells why it failed if it did. */
async function compile(output: string): Promise<string | undefined> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => stop.abort());
  }
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "compile",
      // Otherwise the executable writes a cache into the board's /tmp
      "--no-code-cache",
      ...flags,
      `--target=${processor}-unknown-linux-gnu`,
      `--output=${output}`,
      "main.ts",
    ],
    signal: stop.signal,
  }).output();
  if (success) return undefined;
  const text = new TextDecoder().decode(stderr);
  const [, denort] =
    text.match(/error sending request for url \(\S+\/(denort-[^.]+)/) ?? [];
  return denort
    ? `Cannot download ${denort} of Deno ${Deno.version.deno}, of which the executable is made: name a file that holds it in DENORT_BIN`
    : text;
}

/** Compiles beside an earlier executable, which stays if that fails. */
async function replace(): Promise<string | undefined> {
  await Deno.mkdir(folder!, { recursive: true });
  const beside = await Deno.makeTempDir({ dir: folder, prefix: ".compile-" });
  try {
    const problem = await compile(`${beside}/${name}`);
    if (problem === undefined) await Deno.rename(`${beside}/${name}`, file);
    return problem;
  } finally {
    await Deno.remove(beside, { recursive: true });
  }
}

console.error(`Compiling ${file} with Deno ${Deno.version.deno}`);
const problem = await replace().catch(String);
if (problem !== undefined) {
  console.error(problem);
  Deno.exit(1);
}
const bytes = await Deno.readFile(file);
const digest = await crypto.subtle.digest("SHA-256", bytes);
console.log(`${file}: ${bytes.length} bytes`);
console.log(`SHA-256 ${new Uint8Array(digest).toHex()}`);
