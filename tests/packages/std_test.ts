// Where the @std packages come from on each kind of network.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";
import { output, type ProcessOptions } from "../helpers/process.ts";
import { type Answer, createPackages, Registry } from "../helpers/registry.ts";
import { delay } from "../helpers/wait.ts";

/** How long the registry may take to answer, in ms. */
const TIMEOUT_MS = 5000;

/** A host name that is too long to be looked up. */
const UNKNOWN = "unknown".repeat(10);

const SEARCH = "Looking for the @std packages on jsr.io\n";
const FALLBACK = "jsr.io cannot be reached";

const packages = await createPackages();
const refuse = () => new Response(null, { status: 403 });
const staySilent = () => new Promise<never>(() => {});

// The tests share npm's part of the user's cache. With the lock, Deno verifies
// the package; without it, Deno also caches the package's metadata, which it
// would otherwise request in every test
const warmUps = [];
for (const lock of ["--lock=.tools/std/deno.lock", "--no-lock"]) {
  const map = "--import-map=.tools/std/import_map.json";
  warmUps.push(await deno(["cache", "--quiet", map, lock, "main.ts"]));
}
const { npmCache } = JSON.parse((await deno(["info", "--json"])).stdout);
const missingFallback = warmUps.every(({ code }) => code === 0)
  ? undefined
  : "the fallback's package is neither cached nor available from npm";

/** Runs Deno, which looks for updates by itself after half a second. */
function deno(args: string[], options?: ProcessOptions) {
  const run = ["-u", "DENO_NO_UPDATE_CHECK", Deno.execPath(), ...args];
  return output("env", run, options);
}

type Clone = Awaited<ReturnType<typeof createClone>>;

/**
 * Creates a clone of the project with a cache that holds only npm's packages, a
 * registry in place of jsr.io, and a silent proxy in front of all other hosts.
 */
async function createClone(answer: Answer = packages.answer) {
  await using stack = new AsyncDisposableStack();
  const project = stack.use(await Folder.ofProject());
  await Deno.writeTextFile(`${project.path}/deno.lock`, packages.lock);
  const cache = stack.use(await Folder.create());
  await Deno.symlink(npmCache, `${cache.path}/npm`);
  const registry = stack.use(new Registry(answer));
  const proxy = stack.use(new Registry(staySilent));
  const env: Record<string, string> = {
    DENO_DIR: cache.path,
    JSR_URL: registry.url,
    HTTP_PROXY: proxy.url,
    HTTPS_PROXY: proxy.url,
    NO_PROXY: `127.0.0.1,${UNKNOWN}`,
  };
  const resources = stack.move();
  return {
    cwd: project.path,
    env,
    killGroup: true,
    registry,
    proxy,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Runs `deno task start` until the program has printed its version. */
async function start(clone: Clone) {
  const args = ["task", "--quiet", "start", "--version"];
  const result = await deno(args, clone);
  assertEquals(clone.proxy.requests, 0, "Another host was contacted");
  return { ...result, usesFallback: result.stderr.includes(FALLBACK) };
}

/** Asserts that the program does not start, and prints an error. */
async function assertFails(clone: Clone, message: RegExp, fallback: boolean) {
  const { stdout, stderr, usesFallback } = await start(clone);
  assertMatch(stderr, message);
  assertEquals([stdout, usesFallback], ["", fallback]);
}

/** Why jsr.io cannot be reached: how it answers, or the address in its place. */
const OUTAGES: [what: string, outage: Answer | string, requests: number][] = [
  ["its host is unknown", `http://${UNKNOWN}/`, 0],
  ["it is down", `http://127.0.0.1:${freePort()}/`, 0],
  ["a proxy refuses the connection to it", "", 1],
  ["a proxy refuses the request", refuse, 1],
  ["it fails", () => new Response(null, { status: 503 }), 1],
  ["it stays silent", staySilent, 1],
  ["its response does not end", () => new Response(new ReadableStream()), 1],
];

for (const [index, [what, outage, requests]] of OUTAGES.entries()) {
  const isSilent = index > 4;
  const when = isSilent ? "within 10 s, after a notice," : "at once";
  const name = `the fallback is used ${when} if ${what}`;
  testUnless(missingFallback, name, async () => {
    const isAddress = typeof outage === "string";
    await using clone = await createClone(isAddress ? refuse : outage);
    if (isAddress) {
      clone.env.JSR_URL = outage;
      clone.env.HTTPS_PROXY = clone.registry.url;
    }
    const before = performance.now();
    const { code, stderr } = await start(clone);
    const duration = performance.now() - before;
    assert(duration < TIMEOUT_MS * (isSilent ? 2 : 1), `${duration} ms`);
    // On a slow machine, it always says that it is looking for them
    const notice = isSilent ? SEARCH : `(${SEARCH})?`;
    assertMatch(stderr, new RegExp(`^${notice}${FALLBACK}.*\n$`));
    assertEquals([code, clone.registry.requests], [0, requests]);
  });
}

/** What a registry answers that can be reached. */
const FORGERIES: Record<string, Answer> = {
  "a missing package": () => new Response(null, { status: 404 }),
  "a network's login page": () => new Response("<html>"),
  "a modified package": async (path) => {
    const text = await packages.answer(path).text();
    return new Response(path.endsWith("_meta.json") ? `${text} ` : text);
  },
};

for (const [what, answer] of Object.entries(FORGERIES)) {
  Deno.test(`${what} is an error`, async () => {
    await using clone = await createClone(answer);
    await assertFails(clone, /@std\/(http|log)/, false);
  });
}

Deno.test("a slow registry is used, and no host is contacted later", async () => {
  await using clone = await createClone(async (path) => {
    if (clone.registry.requests === 1) await delay(TIMEOUT_MS * 0.6);
    return packages.answer(path);
  });
  assertEquals((await deno(["task", "_std_flags"], clone)).stdout, "");
  const { requests } = clone.registry;
  const { code, usesFallback } = await start(clone);
  assertEquals([code, usesFallback], [0, false]);
  // The imports of the tests are cached too
  const script = '"$0" install --cached-only --entrypoint tests/*/*_test.ts';
  const install = await output("sh", ["-c", script, Deno.execPath()], clone);
  assertEquals(install.code, 0, install.stderr);
  assertEquals(clone.registry.requests, requests);
});

Deno.test("a modified package of the fallback is an error", async () => {
  await using clone = await createClone((path) =>
    path === "/deno-std.tgz" ? new Response("wrong") : refuse()
  );
  const { cwd, env, registry } = clone;
  env.DENO_DIR = `${cwd}/empty`;
  env.NPM_CONFIG_REGISTRY = registry.url;
  const lock = `${cwd}/.tools/std/deno.lock`;
  const tarball = `"tarball": "${registry.url}deno-std.tgz", "integrity"`;
  const text = (await Deno.readTextFile(lock)).replace('"integrity"', tarball);
  await Deno.writeTextFile(lock, text);
  await assertFails(clone, /checksum did not match.*deno-std/, true);
});
