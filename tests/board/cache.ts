// Keeps what boards are made of outside the project, for the next run.

/** The folder of what is kept. */
const CACHE = `${
  Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME")}/.cache`
}/datasensor-board`;

/**
 * Returns a folder, which it first makes if it is missing. It removes an older one.
 *
 * @param name What is in it.
 * @param files The files of the project that it is made of, and folders of such files.
 * @param other What else decides on its content.
 * @param make Fills the folder.
 */
export async function keep(
  name: string,
  files: string[],
  other: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const path = `${CACHE}/${name}/${await digest(files, other)}`;
  if (await exists(path)) return path;
  await Deno.remove(`${CACHE}/${name}`, { recursive: true }).catch(() => {});
  await Deno.mkdir(`${CACHE}/${name}`, { recursive: true });
  const unfinished = await Deno.makeTempDir({ dir: `${CACHE}/${name}` });
  await Deno.chmod(unfinished, 0o755); // for the users of a container
  await make(unfinished);
  await Deno.rename(unfinished, path);
  return path;
}

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
