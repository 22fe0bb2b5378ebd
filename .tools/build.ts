// deno-lint-ignore-file no-console -- it prints to the console by design

// What the tools that build a file share.

import { parseArgs } from "node:util";

/** Aborted by a signal that stops the tool. */
const stop = new AbortController();

/** What a tool gets. */
export type Job = ReturnType<typeof parseFlags> & {
  /** A temporary folder in the output folder. */
  folder: string;
};

/** Parses the flags of a tool. Its task adds --deno-flags. */
function parseFlags() {
  const { values } = parseArgs({
    // npm users type "--" before flags
    args: Deno.args.filter((arg) => arg !== "--"),
    options: {
      target: { type: "string", default: "aarch64" },
      "output-dir": { type: "string", default: "dist" },
      "deno-flags": { type: "string", default: "" },
    },
  });
  const denoFlags = values["deno-flags"].split(" ").filter(Boolean);
  return { target: values.target, outputDir: values["output-dir"], denoFlags };
}

/**
 * Runs a tool, and removes its folder. A signal stops it, and an error is printed as
 * its message; in both cases, the exit code is 1.
 */
export async function runTool(
  tool: (job: Job) => Promise<void>,
): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const error = new Error(`Stopped by ${signal}`);
    Deno.addSignalListener(signal, () => stop.abort(error));
  }
  let folder: string | undefined;
  try {
    const flags = parseFlags();
    await Deno.mkdir(flags.outputDir, { recursive: true });
    const dir = await Deno.realPath(flags.outputDir);
    folder = await Deno.makeTempDir({ dir, prefix: ".build-" });
    await tool({ ...flags, folder });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 1;
  } finally {
    if (folder) await Deno.remove(folder, { recursive: true });
  }
}

/** The variables of the commands, which may change what they make, such as OTEL_DENO. */
const EXCLUDED = /^(DENO|DPKG|GIT|NODE|OTEL)_/;

/** Those of them that only say where files are and whom to trust. */
const KEPT = [
  "DENO_AUTH_TOKENS",
  "DENO_CERT",
  "DENO_DIR",
  "DENO_NO_UPDATE_CHECK",
  "DENO_TLS_CA_STORE",
  "NODE_EXTRA_CA_CERTS",
];

/** The environment of the commands. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(Deno.env.toObject())
    .filter(([name]) => KEPT.includes(name) || !EXCLUDED.test(name)),
);

/**
 * Runs a command and returns what it prints.
 *
 * @throws {Error} If it fails, with what it prints to standard error.
 * @throws {Deno.errors.NotFound} If it is not installed.
 */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<string> {
  stop.signal.throwIfAborted();
  const { success, stdout, stderr } = await new Deno.Command(command, {
    ...options,
    args,
    clearEnv: true,
    env: { ...ENVIRONMENT, NO_COLOR: "1", ...options.env },
    signal: stop.signal,
  }).output();
  stop.signal.throwIfAborted();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr).trim());
  return decoder.decode(stdout);
}

/** Copies a file or folder; the copied files get a fixed modification time. */
export async function copy(from: string, to: string): Promise<void> {
  if ((await Deno.stat(from)).isFile) {
    await Deno.mkdir(to.replace(/[^/]*$/, ""), { recursive: true });
    await Deno.copyFile(from, to);
    return await Deno.utime(to, 0, 0);
  }
  for await (const { name } of Deno.readDir(from)) {
    await copy(`${from}/${name}`, `${to}/${name}`);
  }
}

/**
 * Moves a complete file to its place, where an earlier one was kept until now, and
 * prints its size and digest.
 */
export async function finish(from: string, to: string): Promise<void> {
  const bytes = await Deno.readFile(from);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  await Deno.rename(from, to);
  console.log(`${to}: ${bytes.length} bytes`);
  console.log(`SHA-256 ${new Uint8Array(digest).toHex()}`);
}
