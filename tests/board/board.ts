// A board that is a container, and a PC in its network. container.sh has the details.

import { COMPUTE_LIMIT_MS, make } from "../helpers/executable.ts";
import { output, Process } from "../helpers/process.ts";
import { missing } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

/** The releases of Debian that boards have. */
export const RELEASES = ["bookworm", "trixie"] as const;

/** A release of Debian. */
export type Release = typeof RELEASES[number];

/** Who types a command: on the PC, or at the board, which is `ssh BOARD`. */
export type Prompt = "pc" | "board";

const SCRIPT = "tests/board/container.sh";

/** How long a board may take to boot, in ms: many boot at once. */
const BOOT_TIMEOUT_MS = 180_000;

/** Where the images are kept, which all clones share. */
const CACHE = `${
  Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME")}/.cache`
}/datasensor-board`;

/** Where a board is mounted, in its own namespaces only. */
const FOLDER = `${CACHE}/board`;

/** Returns what to do if boards cannot be booted here. */
export function missingBoard(): string | undefined {
  if (Deno.build.os !== "linux") return "use Linux";
  if (Deno.uid() !== 0) return "be root, who can start containers";
  return missing(
    "curl",
    "dpkg-deb",
    "git",
    "ip",
    "mmdebstrap",
    "ssh",
    "systemd-nspawn",
  );
}

/** A running board, and the PC. */
export class Board extends Process {
  /** Boots a board, and puts packages into `dist` on the PC. */
  static async boot(release: Release): Promise<Board> {
    const [image, packages] = await Promise.all([
      makeImage(release),
      makePackages(),
    ]);
    await Deno.mkdir(FOLDER, { recursive: true });
    const board = new Board(SCRIPT, ["boot", image, FOLDER], {
      hasInput: true,
    });
    return await board.untilReady(async () => {
      await board.waitForMatch(/\n/);
      await board.type("pc", `ln -s '${packages}' dist`);
      const look = "systemctl is-system-running --wait";
      const isRunning = (state: string) => /^(running|degraded)/.test(state);
      const limit = { limit: BOOT_TIMEOUT_MS };
      await waitFor(
        "the boot",
        () => board.type("board", look),
        isRunning,
        limit,
      );
    });
  }

  /** Types a command. Returns the lines that it prints, and `[CODE]` if it fails. */
  async type(prompt: Prompt, command: string): Promise<string> {
    const enter = ["-t", this.stdout.trim(), "-m", "-n", "-p", "-C"];
    const script = `cd ${FOLDER}/pc; exec 2>&1; ${
      prompt === "pc" ? 'eval "$0"' : 'ssh BOARD "exec 2>&1; $0"'
    }`;
    const args = [...enter, "bash", "-c", script, command];
    const { code, stdout, stderr } = await output("nsenter", args);
    const failure = code === 0 ? "" : `[${code}]`;
    const lines = [...(stdout + stderr).trimEnd().split("\n"), failure];
    return lines.filter(Boolean).map((it) => `${it.trimEnd()}\n`).join("");
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.write("\n"); // ends it
    await this.waitForEnd();
    await super[Symbol.asyncDispose]();
  }
}

/** Returns the path of a release's image, which is made if it is missing. */
async function makeImage(release: Release): Promise<string> {
  const path = `${CACHE}/${release}`;
  await keep(path, await Deno.readTextFile(SCRIPT), async () => {
    await run([SCRIPT, "image", path, release]);
  });
  return path;
}

/** A package to install, such as one that is to be published. */
const GIVEN = Deno.env.get("DATASENSOR_PACKAGE");

/**
 * Makes a later version of a package: its executable is the same one, which takes seconds,
 * and its examples differ. Adds the executable. All get the names of the guide, whatever
 * this machine's processor is.
 */
const MAKE_LATER = `
mkdir -p "$0"
cp -L "$1" "$0/package"
cd "$0"
rm -f datasensor_*
mv package datasensor_arm64.deb
dpkg-deb -R datasensor_arm64.deb later
cp later/usr/bin/datasensor datasensor-aarch64
sed -i 's/^Version: .*/Version: 99.0.0/' later/DEBIAN/control
echo '# A new example' >>later/usr/share/datasensor/examples.conf
dpkg-deb -Zgzip -z1 --root-owner-group --build later datasensor_99.0.0_arm64.deb
rm -r later`;

/** Prints what a package is made of, which is all but the tests, or the given one's sum. */
const LIST_SOURCES = `if [ "$0" ]; then exec sha256sum "$0"; fi
git ls-tree HEAD | grep -v 'tests$'
git diff HEAD -- . ':!tests'`;

/** Returns the path of a folder with both packages, which are made if they are missing. */
async function makePackages(): Promise<string> {
  const path = `${Deno.cwd()}/dist/board`;
  const sources = await run(["sh", "-ec", LIST_SOURCES, GIVEN ?? ""]);
  await keep(path, MAKE_LATER + sources, async () => {
    const made = GIVEN ?? await makePackage(path);
    await run(["sh", "-ec", MAKE_LATER, path, made]);
  });
  return path;
}

/** Makes a package for this machine in a folder, and returns its path. */
async function makePackage(folder: string): Promise<string> {
  const processor = Deno.build.arch as "aarch64" | "x86_64";
  const { code, stderr } = await make("package", processor, folder);
  if (code !== 0) throw new Error(stderr);
  return `${folder}/datasensor_${
    processor === "aarch64" ? "arm" : "amd"
  }64.deb`;
}

/**
 * Makes a folder if it is missing, or was made of something else. If another file of tests
 * makes it, waits for that.
 *
 * @param path Where it is.
 * @param key What it is made of.
 * @param make Makes it.
 */
async function keep(
  path: string,
  key: string,
  make: () => Promise<void>,
): Promise<void> {
  await Deno.mkdir(path.replace(/[^/]*$/, ""), { recursive: true });
  const options = { create: true, read: true, write: true };
  using lock = await Deno.open(`${path}.lock`, options);
  await lock.lock(true); // until it is closed
  if (await Deno.readTextFile(`${path}.key`).catch(() => "") === key) return;
  await Deno.writeTextFile(`${path}.key`, "");
  await Deno.remove(path, { recursive: true }).catch(() => {}); // is missing
  await make();
  await Deno.writeTextFile(`${path}.key`, key);
}

/** Runs a command, and returns what it prints. */
async function run([command, ...args]: string[]): Promise<string> {
  const { code, stdout, stderr } = await output(
    command!,
    args,
    {},
    COMPUTE_LIMIT_MS,
  );
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}\n${stderr}`);
  return stdout;
}
