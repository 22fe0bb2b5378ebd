// Keeps what boards are made of for the next run.

/**
 * Makes a folder if it is missing, or was made of something else. If another run makes it,
 * waits for that.
 *
 * @param path Where it is.
 * @param key What it is made of.
 * @param make Makes it.
 */
export async function keep(
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
