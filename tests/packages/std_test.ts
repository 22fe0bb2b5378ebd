// Where the @std packages come from, on each kind of network.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import { exchange, freePort } from "../helpers/network.ts";
import { output, type ProcessOptions } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import {
  createPackages,
  Registry,
  SilentRegistry,
} from "../helpers/registry.ts";
import { LAST_GET } from "../helpers/requests.ts";
import { delay } from "../helpers/wait.ts";
import config from "../../deno.json" with { type: "json" };

/** How long the registry may take to answer, in ms. */
const TIMEOUT_MS = 5000;

/** A name that no resolver looks up, as it is too long. */
const UNKNOWN = "unknown".repeat(10);

const SEARCH = "Looking for the @std packages on jsr.io";
const FALLBACK = "jsr.io cannot be reached";

type Env = Record<string, string>;

const packages = await createPackages();

// The tests share npm's part of the user's cache. With the lock, Deno verifies
// the package; without it, Deno also waits for the package's metadata, which it
// would otherwise request again and again
const warmUps = [];
for (const lock of ["--lock=.tools/std/deno.lock", "--no-lock"]) {
  const map = "--import-map=.tools/std/import_map.json";
  warmUps.push(await deno(["cache", "--quiet", map, lock, "main.ts"]));
}
const { npmCache } = JSON.parse((await deno(["info", "--json"])).stdout);
const lacksFallback = warmUps.every(({ code }) => code === 0)
  ? undefined
  : "the fallback's package is neither cached nor available from npm";

function deno(args: string[], options?: ProcessOptions) {
  return output(Deno.execPath(), args, { ...options, startsOthers: true });
}

/** Creates a cache without the @std packages, except those from npm. */
async function createCache() {
  const cache = await Folder.create();
  await Deno.symlink(npmCache, `${cache.path}/npm`);
  return cache;
}

/** Copies the project, with a lock for the packages on loopback. */
async function copyProject() {
  const project = await Folder.ofProject();
  await Deno.writeTextFile(`${project.path}/deno.lock`, packages.lock);
  return project;
}

/** Runs the task `start` until the program has printed its version. */
async function start(env: Env, project?: Folder) {
  const args = ["task", "--quiet", "start", "--version"];
  const result = await deno(args, { cwd: project?.path, env });
  return { ...result, usesFallback: result.stderr.includes(FALLBACK) };
}

/** Asserts that the program starts without the fallback. */
async function assertStarts(env: Env, project: Folder) {
  const { code, stderr, usesFallback } = await start(env, project);
  assertEquals([code, usesFallback], [0, false], stderr);
}

/** Asserts that the program does not start, and that an error says why. */
async function assertFails(message: RegExp, env: Env, project?: Folder) {
  const { stdout, stderr, usesFallback } = await start(env, project);
  assertMatch(stderr, message);
  assertEquals(stdout, "");
  return usesFallback;
}

/** Tests with an empty cache, without a proxy and with one that stays silent. */
async function everywhere(test: (env: Env) => Promise<void>): Promise<void> {
  using proxy = new SilentRegistry();
  const proxies = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
  const runs = [{}, proxies].map(async (environment) => {
    using cache = await createCache();
    const NO_PROXY = `127.0.0.1,${UNKNOWN}`;
    await test({ DENO_DIR: cache.path, NO_PROXY, ...environment });
  });
  for (const run of await Promise.allSettled(runs)) {
    if (run.status === "rejected") throw run.reason;
  }
}

function testFallback(name: string, test: (env: Env) => Promise<void>) {
  const fullName = `the fallback is used ${name}`;
  testUnless(lacksFallback, fullName, () => everywhere(test));
}

async function assertFallsBackAtOnce(env: Env) {
  const before = performance.now();
  const { code, stderr } = await start(env);
  const duration = performance.now() - before;
  assertEquals(duration < TIMEOUT_MS, true, `It took ${duration} ms`);
  // On a slow machine, it first says that it is looking for them
  assertMatch(stderr, new RegExp(`^(${SEARCH}\n)?${FALLBACK}.*\n$`));
  assertEquals(code, 0);
}

testFallback("at once where no host has the name, or listens", async (env) => {
  for (const host of [UNKNOWN, `127.0.0.1:${freePort()}`]) {
    await assertFallsBackAtOnce({ ...env, JSR_URL: `http://${host}/` });
  }
});

testFallback("at once where a proxy or the registry fails", async (env) => {
  for (const status of [403, 407, 429, 502, 503]) {
    await using registry = new Registry(() => new Response(null, { status }));
    await assertFallsBackAtOnce({ ...env, JSR_URL: registry.url });
    assertEquals(registry.requests, 1);
    if (status !== 403) continue;
    // For https, a proxy refuses to connect
    const proxy = { HTTPS_PROXY: registry.url, NO_PROXY: "", JSR_URL: "" };
    await assertFallsBackAtOnce({ ...env, ...proxy });
    assertEquals(registry.requests, 2);
  }
});

/** Asserts that the service listens in time, and logs what it waits for. */
async function assertListens(env: Env) {
  const before = performance.now();
  const args = ["task", "start", "--port", "0"];
  const options = { env, startsOthers: true };
  await using program = new Program(Deno.execPath(), args, options);
  await program.waitFor(() => program.stderr.includes(SEARCH));
  const searched = performance.now();
  await program.waitFor(() => program.stderr.includes(FALLBACK));
  const silence = TIMEOUT_MS - (performance.now() - searched);
  assertEquals(
    silence < TIMEOUT_MS / 2,
    true,
    `Nothing was printed for ${silence} ms`,
  );
  await program.listening();
  const duration = performance.now() - before;
  assertEquals(duration < 10_000, true, `It took ${duration} ms`);
  assertMatch(await exchange(program.port, LAST_GET), /"Sensor data"$/);
}

testFallback("within 10 s where jsr.io stays silent", async (env) => {
  using registry = new SilentRegistry();
  await using proxy = new Registry(packages.answer);
  const HTTPS_PROXY = proxy.url;
  await assertListens({ ...env, HTTPS_PROXY, JSR_URL: registry.url });
  assertEquals(proxy.requests, 0, "Another host is contacted");
});

testFallback("within 10 s where an answer does not end", async (env) => {
  await using registry = new Registry(() => new Response(new ReadableStream()));
  await assertListens({ ...env, JSR_URL: registry.url });
});

testUnless(
  lacksFallback,
  "the task start does not look for a newer Deno, which deno run does",
  async () => {
    using cache = await createCache();
    const refuse = () => new Response(null, { status: 403 });
    const run = (proxy: Registry, ...args: string[]) => {
      const HTTPS_PROXY = proxy.url;
      const env = { DENO_DIR: cache.path, HTTPS_PROXY, JSR_URL: "" };
      const words = ["-u", "DENO_NO_UPDATE_CHECK", Deno.execPath(), ...args];
      return new Program("env", words, { env, startsOthers: true });
    };
    await using proxy = new Registry(refuse);
    await using service = run(proxy, "task", "start", "--port", "0");
    await service.listening();
    assertEquals(proxy.requests, 1); // for jsr.io
    await using other = new Registry(refuse);
    const bare = ["run", "--allow-net", "tests/measure/bench_bare.ts", "0"];
    await using program = run(other, ...bare);
    await program.waitFor(() => other.requests > 0);
    assertEquals(proxy.requests, 1);
  },
);

Deno.test("a slow registry is used", () =>
  everywhere(async (env) => {
    await using registry: Registry = new Registry(async (path) => {
      await delay(registry.requests === 1 ? 3000 : 0);
      return packages.answer(path);
    });
    using project = await copyProject();
    await assertStarts({ ...env, JSR_URL: registry.url }, project);
  }));

/** Changes of what the registry answers, by the path's ending. */
const FORGERIES: Record<string, (text: string) => string> = {
  "/meta.json": () => "<html>", // as the login page of a network
  "_meta.json": (text) => `${text} `,
  ".ts": (text) => `${text} `,
};

for (const [ending, forge] of Object.entries(FORGERIES)) {
  Deno.test(`a modified ${ending} is an error`, () =>
    everywhere(async (env) => {
      await using registry = new Registry(async (path) => {
        const text = await packages.answer(path).text();
        return new Response(path.endsWith(ending) ? forge(text) : text);
      });
      using project = await copyProject();
      const JSR_URL = registry.url;
      const message = /@std\/(http|log)/;
      const usesFallback = await assertFails(
        message,
        { ...env, JSR_URL },
        project,
      );
      assertEquals(usesFallback, false);
    }));
}

Deno.test("a missing package is an error", () =>
  everywhere(async (env) => {
    await using registry = new Registry(() => packages.answer(""));
    const JSR_URL = registry.url;
    const usesFallback = await assertFails(/@std\/(http|log)/, {
      ...env,
      JSR_URL,
    });
    assertEquals(usesFallback, false);
  }));

Deno.test("no host is contacted if everything is cached", () =>
  everywhere(async (env) => {
    await using registry = new Registry(packages.answer);
    using project = await copyProject();
    const direct = { ...env, JSR_URL: registry.url };
    await deno(["task", "_std"], { cwd: project.path, env: direct });
    const { requests } = registry;
    await assertStarts(direct, project);

    await using proxy = new Registry(packages.answer);
    const proxies = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    await assertStarts({ ...direct, ...proxies, NO_PROXY: "" }, project);
    assertEquals([registry.requests, proxy.requests], [requests, 0]);
  }));

Deno.test("the imports of the tests are cached too", async () => {
  await using registry = new Registry(packages.answer);
  using project = await copyProject();
  using cache = await createCache();
  const env = { DENO_DIR: cache.path, JSR_URL: registry.url };
  await deno(["task", "_std"], { cwd: project.path, env });
  const args = ["install", "--cached-only", "--entrypoint"];
  for (const room of config.test.include) {
    for await (const { name } of Deno.readDir(room)) {
      if (name.endsWith("_test.ts")) args.push(`${room}/${name}`);
    }
  }
  const { code, stderr } = await deno(args, { cwd: project.path, env });
  assertEquals(code, 0, stderr);
});

/** Changes a file of a project. */
async function change(
  project: Folder,
  file: string,
  pattern: RegExp,
  replacement: string,
) {
  const path = `${project.path}/${file}`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace(pattern, replacement));
}

const FALLBACK_LOCK = ".tools/std/deno.lock";

for (const usesFallback of [false, true]) {
  const [lock, file, pattern] = usesFallback
    ? [FALLBACK_LOCK, ".tools/std/import_map.json", /(deno-std@)[^/]+/]
    : ["deno.lock", "deno.json", /(@std\/http@)[^"]+/];
  testUnless(
    usesFallback ? lacksFallback : undefined,
    `a changed dependency does not change ${lock}`,
    async () => {
      await using registry = new Registry(packages.answer);
      using project = await copyProject();
      using cache = await createCache();
      const path = `${project.path}/${lock}`;
      const before = await Deno.readTextFile(path);
      await change(project, file, pattern, "$1*");
      const unreachable = `http://127.0.0.1:${freePort()}/`;
      const JSR_URL = usesFallback ? unreachable : registry.url;
      const env = { DENO_DIR: cache.path, JSR_URL };
      const message = /lockfile is out of date/;
      assertEquals(await assertFails(message, env, project), usesFallback);
      assertEquals(await Deno.readTextFile(path), before);
    },
  );
}

Deno.test("a modified package of the fallback is an error", async () => {
  await using npm = new Registry(() => new Response("wrong"));
  using project = await copyProject();
  using cache = await Folder.create();
  const tarball = `"tarball": "${npm.url}deno-std.tgz", `;
  await change(project, FALLBACK_LOCK, /(?="integrity")/, tarball);
  const env = {
    DENO_DIR: cache.path,
    JSR_URL: `http://127.0.0.1:${freePort()}/`,
    NPM_CONFIG_REGISTRY: npm.url,
  };
  const message = /checksum did not match.*deno-std/;
  assertEquals(await assertFails(message, env, project), true);
});
