// Makes what boards boot, and keeps it outside the project for the next run.

import { missingCommand } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { CachedFolder } from "./cache.ts";

/** The releases of Debian on the boards. */
const RELEASES = ["bookworm", "trixie"] as const;

/** A release of Debian on a board. */
export type Release = typeof RELEASES[number];

/** The sizes of memory pages, in KB. */
export type Pages = 4 | 16;

/**
 * Packages that depend on the newest kernel of a release, for a size of memory pages.
 * apt may know only some of them.
 */
const KERNELS: Partial<Record<`${Release}-${Pages}k`, string[]>> = {
  "bookworm-4k": ["linux-image-arm64"],
  "trixie-16k": ["linux-image-arm64-16k", "linux-image-6.12-arm64-16k"],
};

/** The commands that make and run a container. */
const FOR_CONTAINERS = ["ip", "mmdebstrap", "systemd-nspawn"];

/** Those that make and run an emulated board. */
const FOR_EMULATORS = [
  ...FOR_CONTAINERS,
  "cpio",
  "depmod",
  "mke2fs",
  "qemu-system-aarch64",
  "xz",
];

const SCRIPT = "tests/board/image.sh";

/** Tells what is missing to make and run a container. */
export function missingContainer(): string | undefined {
  return missing(FOR_CONTAINERS);
}

/** Tells what is missing to make and run an emulated board. */
export async function missingEmulator(): Promise<string | undefined> {
  for (const packages of Object.values(KERNELS)) {
    if (await findKernel(packages)) continue;
    const name = `${packages.at(-1)}:arm64`;
    return `make apt know ${name} with "dpkg --add-architecture arm64" and "apt-get update"`;
  }
  return missing(FOR_EMULATORS);
}

function missing(commands: string[]): string | undefined {
  if (Deno.build.os !== "linux") return "use Linux";
  if (Deno.uid() !== 0) return "be root, to make a board";
  return missingCommand(...commands);
}

/** Returns the newest kernel package on which one of some packages depends. */
async function findKernel(packages: string[]): Promise<string | undefined> {
  for (const name of packages) {
    const { stdout } = await output("apt-cache", ["depends", `${name}:arm64`]);
    const [, kernel] = stdout.match(/Depends: (linux-image-[^:\s]+)/) ?? [];
    if (kernel) return kernel;
  }
}

/** The containers' root file systems, by release. */
export const CONTAINERS = new CachedFolder(
  "containers",
  [SCRIPT],
  () => RELEASES.join(),
  (folder) => makeImages("containers", folder, ...RELEASES),
);

/** The emulated boards' disks and kernels. */
export const DISKS = new CachedFolder(
  "disks",
  [SCRIPT, "tests/board/init.sh"],
  async () => (await listKernels()).join(),
  async (folder) => {
    const containers = await CONTAINERS.make();
    await makeImages("arm", folder, containers, ...await listKernels());
  },
);

/** Returns the names of the kernels with their packages, as the script wants them. */
function listKernels(): Promise<string[]> {
  return Promise.all(
    Object.entries(KERNELS).map(async ([name, packages]) =>
      `${name}=${await findKernel(packages)}`
    ),
  );
}

/** Runs the script. What it prints is shown, since it takes a minute. */
async function makeImages(...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(SCRIPT, { args }).spawn().status;
  if (!success) throw new Error(`${SCRIPT} failed`);
}
