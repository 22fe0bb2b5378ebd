// Keeps what boards are made of outside the project, for the next run.

/** The folder of what is kept. */
const CACHE = `${
  Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME")}/.cache`
}/datasensor-board`;

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
    if (await exists(path)) {
      const now = new Date();
      await Deno.utime(path, now, now); // it is in use
      return path;
    }
    throw new Error(
      `No ${path}: run "deno task test:board" or "test:arm", and change no file meanwhile`,
    );
  }

  /**
   * Makes it if it is missing, removes those that were not used for a day, and returns
   * its path.
   */
  async make(): Promise<string> {
    const path = await this.#path();
    if (await exists(path)) return path;
    const parent = `${CACHE}/${this.name}`;
    await Deno.mkdir(parent, { recursive: true });
    for await (const { name } of Deno.readDir(parent)) {
      const other = `${parent}/${name}`;
      const { mtime } = await Deno.stat(other);
      const isUnused = Date.now() - mtime!.getTime() > DAY_MS;
      if (isUnused) await Deno.remove(other, { recursive: true });
    }
    const unfinished = await Deno.makeTempDir({ dir: parent });
    await Deno.chmod(unfinished, 0o755); // for the users of a container
    await this.fill(unfinished);
    await Deno.rename(unfinished, path);
    return path;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
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
