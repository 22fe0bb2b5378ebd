// denort, Deno's runtime for executables: whether a file is the right one, and why
// it could not be downloaded.

import { readMachine } from "./elf.ts";

/** The version of Deno, and so of denort, without the suffix of a preview. */
const VERSION = Deno.version.deno.split(/[-+]/)[0]!;

/** The processors for which the tasks compile, by their number in an ELF file. */
const PROCESSORS: Record<number, string> = { 62: "x86_64", 183: "aarch64" };

/**
 * Asserts that a file is denort of this version, for a processor. `deno compile`
 * takes any file, and its output would not run.
 *
 * @throws {Error} If it is not, with what it is instead.
 */
export async function assertDenort(
  path: string,
  processor: string,
): Promise<void> {
  const expected = `denort ${VERSION} for ${processor}`;
  const bytes = await Deno.readFile(path).catch(() => undefined);
  const found = bytes ? identify(bytes) : "not a readable file";
  if (found !== expected) {
    throw new Error(`DENORT_BIN must be ${expected}: "${path}" is ${found}`);
  }
}

/** Returns what a file is, such as "denort 2.9.6 for aarch64". */
function identify(bytes: Uint8Array): string {
  const machine = readMachine(bytes);
  if (machine === undefined) return "not a 64-bit Linux program";
  const text = new TextDecoder("latin1").decode(bytes);
  // denort contains its user agent with the commit, such as Deno/2.9.6+e518fbd. Without
  // it, the version could go on, or be that of a library, such as Deno/0.80.0
  const agent = /Deno\/(\d+\.\d+\.\d+)[-.\w]*\+[\da-f]{7}/;
  const version = agent.exec(text)?.[1];
  if (version === undefined) return "a program that names no version of Deno";
  const processor = PROCESSORS[machine] ?? "another processor";
  return `denort ${version} for ${processor}`;
}

/**
 * Returns the error of `deno compile` or, if it could not download denort, one that
 * explains this in a sentence, with the remedies.
 */
export function explainDownload(error: Error, processor: string): Error {
  const { message } = error;
  if (!/Setting up base binary|Failed to unpack/.test(message)) return error;
  // The last of its causes, which are indented or numbered
  const causes = message.matchAll(/^ {4}(?:\d+: )?(\S.*?)\.?$/gm);
  const reason = [...causes].at(-1)?.[1] ?? message;
  const remedies = ["unpack a copy and set DENORT_BIN to its denort"];
  if (reason.includes("certificate")) {
    remedies.unshift(
      "set DENO_TLS_CA_STORE=system to trust the system's certificates",
    );
  }
  if (reason.includes("unpack")) {
    remedies.unshift("run `deno clean` to download it again");
  }
  const name = `denort-${processor}-unknown-linux-gnu.zip`;
  const url = `https://dl.deno.land/release/v${Deno.version.deno}/${name}`;
  return new Error(
    `Cannot download ${url}: ${reason}; ${remedies.join(", or ")}`,
  );
}
