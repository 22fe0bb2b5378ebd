// Keeps what boards are made of for the next run.

/** Where it is kept. */
export const CACHE = `${
  Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME")}/.cache`
}/datasensor-board`;

/** A run takes minutes, and each change of the sources makes packages of 200 MB. */
const UNUSED_MS = 60 * 60 * 1000;

/**
 * Returns the path of a folder, and makes it if it is missing. If another run makes it,
 * waits for that. Removes those of the same name that were not used for an hour.
 *
 * @param name What it is.
 * @param key What it is made of: another key makes another folder.
 * @param make Makes it at a path.
 */
export async function keep(
  name: string,
  key: string,
  make: (path: string) => Promise<void>,
): Promise<string> {
  await Deno.mkdir(CACHE, { recursive: true });
  const options = { create: true, write: true };
  using lock = await Deno.open(`${CACHE}/${name}.lock`, options);
  await lock.lock(true); // until it is closed
  const bytes = new TextEncoder().encode(key);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const path = `${CACHE}/${name}-${hash.toHex().slice(0, 16)}`;
  const now = new Date();
  if (await Deno.utime(path, now, now).then(() => true, () => false)) {
    return path;
  }
  await removeUnused(`${name}-`);
  const unfinished = `${CACHE}/${name}-unfinished`;
  try {
    await make(unfinished);
    await Deno.rename(unfinished, path);
  } catch (error) {
    await Deno.remove(unfinished, { recursive: true }).catch(() => {});
    throw error;
  }
  return path;
}

/** Removes the folders that were not used for an hour, and one that is unfinished. */
async function removeUnused(prefix: string): Promise<void> {
  for await (const { name } of Deno.readDir(CACHE)) {
    if (!name.startsWith(prefix)) continue;
    const { mtime } = await Deno.stat(`${CACHE}/${name}`);
    const isUsed = Date.now() - mtime!.getTime() < UNUSED_MS;
    if (isUsed && !name.endsWith("-unfinished")) continue;
    await Deno.remove(`${CACHE}/${name}`, { recursive: true });
  }
}
