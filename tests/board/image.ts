// deno-lint-ignore-file no-console -- making an image takes minutes

// Makes the images that the emulated boards boot, and keeps them outside the
// project for the next run.

import { missingCommand } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";

/** The releases of Debian on the boards. */
const RELEASES = ["bookworm", "trixie"] as const;

/** A release of Debian on a board. */
export type Release = typeof RELEASES[number];

/**
 * Packages that depend on the newest kernel; apt may know only some. That of
 * trixie has memory pages of 16 KB, that of bookworm 4 KB.
 */
const KERNELS: Record<Release, string[]> = {
  bookworm: ["linux-image-arm64"],
  trixie: ["linux-image-arm64-16k", "linux-image-6.12-arm64-16k"],
};

/** The commands that make and boot an image. */
const COMMANDS = [
  "apt-cache",
  "arch-test",
  "cpio",
  "depmod",
  "mke2fs",
  "mmdebstrap",
  "qemu-aarch64-static",
  "qemu-system-aarch64",
];

/** The files that make an image, relative to the project. */
const RECIPE = ["tests/board/image.sh", "tests/board/init"];

/** Returns the reason to skip a test if no image can be made. */
export async function missingImage(): Promise<string | undefined> {
  if (Deno.uid() !== 0) return "only root can make the image of a board";
  for (const command of COMMANDS) {
    const missing = await missingCommand(command);
    if (missing) return missing;
  }
  for (const release of RELEASES) {
    if (await findKernel(release)) continue;
    return `apt does not know ${KERNELS[release].at(-1)}:arm64`;
  }
}

/** Returns the name of the newest kernel package that apt knows. */
async function findKernel(release: Release): Promise<string | undefined> {
  for (const name of KERNELS[release]) {
    const { stdout } = await output("apt-cache", ["depends", `${name}:arm64`]);
    const [, kernel] = stdout.match(/Depends: (linux-image-[^:\s]+)/) ?? [];
    if (kernel) return kernel;
  }
}

/** Returns the folder with the images, which it makes if they are missing. */
export async function getImages(): Promise<string> {
  const boards = await Promise.all(
    RELEASES.map(async (name) => `${name}=${await findKernel(name)}`),
  );
  const home = Deno.env.get("HOME");
  const caches = Deno.env.get("XDG_CACHE_HOME") || `${home}/.cache`;
  const cache = `${caches}/datasensor-board`;
  const name = await digest(...boards);
  if (!await exists(`${cache}/${name}`)) await makeImages(cache, name, boards);
  return `${cache}/${name}`;
}

/** Makes the images, and removes older ones. */
async function makeImages(
  cache: string,
  name: string,
  boards: string[],
): Promise<void> {
  await Deno.mkdir(cache, { recursive: true });
  const prefix = "unfinished-";
  const unfinished = await Deno.makeTempDir({ dir: cache, prefix });
  const { success } = await new Deno.Command(RECIPE[0]!, {
    args: [unfinished, ...boards],
  }).spawn().status;
  if (success) await Deno.rename(unfinished, `${cache}/${name}`);
  for await (const entry of Deno.readDir(cache)) {
    if (entry.name === name) continue;
    await Deno.remove(`${cache}/${entry.name}`, { recursive: true });
  }
  if (!success) throw new Error(`${RECIPE[0]} failed`);
}

/** Returns a hash of everything that an image is made of. */
async function digest(...parts: string[]): Promise<string> {
  const recipe = await Promise.all(RECIPE.map((f) => Deno.readTextFile(f)));
  const bytes = new TextEncoder().encode([...recipe, ...parts].join("\n"));
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(hash).toHex().slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

if (import.meta.main) {
  const reason = await missingImage();
  console.log(reason ? `Skipped: ${reason}` : await getImages());
}
