// Keeps what boards are made of outside the project, for the next run.

/** The folder of what is kept. */
const CACHE = `${
  Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME")}/.cache`
}/datasensor-board`;

const DAY_MS = 24 * 60 * 60 * 1000;

/** A folder that takes long to make. */
export class CachedFolder {
  /**
   * @param name What is in it.
   * @param files The files of the project that it is made of, and folders of such files.
   * @param describe Returns what else decides on its content.
   * @param fill Makes its content.
   */
  constructor(
    private readonly name: string,
    private readonly files: string[],
    private readonly describe: () => string | Promise<string>,
    private readonly fill: (folder: string) => Promise<void>,
  ) {}

  async #path(): Promise<string> {
    const hash = await digest(this.files, await this.describe());
    return `${CACHE}/${this.name}/${hash}`;
  }

  /** Returns its path. Throws if it was not made: tests side by side cannot make it. */
  async find(): Promise<string> {
    const path = await this.#path();
    if (await touch(path)) return path;
    throw new Error(
      `No ${path}: run "deno task test:board" or "test:arm", and change no file meanwhile`,
    );
  }

  /**
   * Makes it if it is missing, removes those that were not used for a day, and returns
   * its path. If another process makes it, waits for that.
   */
  async make(): Promise<string> {
    const path = await this.#path();
    const parent = `${CACHE}/${this.name}`;
    await Deno.mkdir(parent, { recursive: true });
    const options = { create: true, write: true };
    using lock = await Deno.open(`${parent}.lock`, options);
    await lock.lock(true); // until it is closed
    if (await touch(path)) return path;
    await removeUnused(parent);
    const unfinished = await Deno.makeTempDir({ dir: parent });
    await Deno.chmod(unfinished, 0o755); // for the users of a container
    await this.fill(unfinished);
    await Deno.rename(unfinished, path);
    return path;
  }
}

/** Sets a folder's time to now, as it is used, and returns whether it exists. */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return await Deno.utime(path, now, now).then(() => true, () => false);
}

/** Removes the folders in a folder that were not used for a day. */
async function removeUnused(parent: string): Promise<void> {
  for await (const { name } of Deno.readDir(parent)) {
    const path = `${parent}/${name}`;
    const { mtime } = await Deno.stat(path);
    const isUnused = Date.now() - mtime!.getTime() > DAY_MS;
    if (isUnused) await Deno.remove(path, { recursive: true });
  }
}

/** Returns a hash of files, of all files in folders, and of a text. */
async function digest(paths: string[], text: string): Promise<string> {
  const parts = [text];
  for (const path of await listFiles(paths)) {
    parts.push(path, (await Deno.readFile(path)).toHex());
  }
  const bytes = new TextEncoder().encode(parts.join("\n"));
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(hash).toHex().slice(0, 16);
}

/** Returns the files, and all files in the folders. */
async function listFiles(paths: string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    if ((await Deno.stat(path)).isFile) {
      files.push(path);
      continue;
    }
    const names = await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
    const entries = names.toSorted().map((name) => `${path}/${name}`);
    files.push(...await listFiles(entries));
  }
  return files;
}
