// deno-lint-ignore-file no-console -- what it prints is its purpose

/**
 * Compiles the service for a processor, given as the first argument; the others
 * are the flags that the executable runs with.
 *
 * @module
 */

const [processor, ...flags] = Deno.args;
const file = `dist/datasensor-${processor}`;

const { code, stderr } = await new Deno.Command(Deno.execPath(), {
  args: [
    "compile",
    // Otherwise the executable writes a cache into the board's /tmp
    "--no-code-cache",
    ...flags,
    `--target=${processor}-unknown-linux-gnu`,
    `--output=${file}`,
    "main.ts",
  ],
}).output();

if (code !== 0) {
  const text = new TextDecoder().decode(stderr);
  const unreachable = /error sending request for url \(\S+\/denort-/.test(text);
  console.error(
    unreachable
      ? `Cannot download denort for Deno ${Deno.version.deno}, of which the executable is made: name a file that holds it in DENORT_BIN`
      : text,
  );
  Deno.exit(1);
}

const bytes = await Deno.readFile(file);
const digest = await crypto.subtle.digest("SHA-256", bytes);
console.log(`${file}: ${bytes.length} bytes`);
console.log(`SHA-256 ${new Uint8Array(digest).toHex()}`);
