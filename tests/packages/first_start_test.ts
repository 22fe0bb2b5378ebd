// Where the @std packages come from on each kind of network. .ci/run runs the service
// and its tests with the real ones.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, PROXIES } from "../helpers/process.ts";

const NOTICE = "Looking for the @std packages on jsr.io\n";
const FALLBACK =
  "jsr.io cannot be reached: using substitutes for @std from npm and .tools/std\n";

/** Serves on loopback. */
function serve(answer: (path: string) => Response) {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  return Deno.serve(options, ({ url }) => answer(new URL(url).pathname));
}

const locate = (port: number) => `http://127.0.0.1:${port}/`;

// With the fallback's lock, Deno verifies its package. Without, it also caches the
// package's metadata, which it would otherwise request in every test
const warmUps = [];
for (const flag of ["--lock=.tools/std/deno.lock", "--no-lock"]) {
  const map = "--import-map=.tools/std/import_map.json";
  const args = ["cache", "--quiet", map, flag, "main.ts"];
  warmUps.push(await output(Deno.execPath(), args, { env: PROXIES }));
}
const missingFallback = warmUps.every(({ code }) => code === 0)
  ? undefined
  : "connect to npm once: the fallback's package is not cached";

/**
 * Starts a copy of the project, whose cache holds npm's packages only or, with another
 * registry of npm, nothing. No other host may be contacted.
 */
async function start(JSR_URL: string, NPM_CONFIG_REGISTRY = "") {
  using project = await Folder.ofProject();
  using cache = await Folder.create();
  if (!NPM_CONFIG_REGISTRY) {
    using user = await Folder.ofCache();
    const npm = await Deno.realPath(`${user.path}/npm`);
    await Deno.symlink(npm, `${cache.path}/npm`);
  }
  let others = 0;
  await using proxy = serve(() =>
    new Response(null, { status: 400 + others++ })
  );
  const url = locate(proxy.addr.port);
  const env: Record<string, string> = {
    DENO_DIR: cache.path,
    JSR_URL,
    NPM_CONFIG_REGISTRY,
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    NO_PROXY: "127.0.0.1",
  };
  const task = [Deno.execPath(), "task", "-q", "start", "--version"];
  // Deno would look for updates
  const args = ["-u", "DENO_NO_UPDATE_CHECK", ...task];
  const options = { cwd: project.path, env, killGroup: true };
  const result = await output("env", args, options);
  assertEquals(others, 0, "Another host was contacted");
  return result;
}

for (const isSilent of [false, true]) {
  const what = isSilent ? "stays silent" : "refuses the connection";
  Deno.test(
    `the fallback is used if jsr.io ${what}`,
    needs({ missing: [missingFallback] }),
    async () => {
      using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      using nobody = new ReservedPort();
      const port = isSilent ? silent.addr.port : nobody.number;
      const { code, stderr } = await start(locate(port));
      assertEquals([code, stderr], [0, NOTICE + FALLBACK]);
    },
  );
}

/** What a registry answers that can be reached. */
const FORGERIES = {
  "a missing package": () => new Response(null, { status: 404 }),
  "a modified package": (path: string) => {
    const meta = { exports: { "./status": "./mod.ts" }, manifest: {} };
    const versions = { "1.0.19": {}, "1.1.0": {}, "0.224.14": {} };
    return Response.json(path.endsWith("/meta.json") ? { versions } : meta);
  },
};

for (const [what, answer] of Object.entries(FORGERIES)) {
  Deno.test(`${what} is an error`, async () => {
    await using registry = serve(answer);
    const { code, stderr } = await start(locate(registry.addr.port));
    assert(code !== 0 && !stderr.includes(FALLBACK), stderr);
    assertMatch(stderr, /@std\/(http|log)/);
  });
}

Deno.test("a first start without any network ends with a sentence, as does one with a modified package of the fallback", async () => {
  using nobody = new ReservedPort();
  const nowhere = locate(nobody.number);
  await using npm = serve(() => new Response("wrong"));
  for (
    const [registry, reason] of [
      [nowhere, "error sending request"],
      [locate(npm.addr.port), "checksum"],
    ] as const
  ) {
    const { code, stdout, stderr } = await start(nowhere, registry);
    assertEquals([code, stdout], [1, ""]);
    const last = stderr.trim().split("\n").at(-1)!;
    assertMatch(last, /^The first start needs jsr.io or npm, to download/);
    assert(last.includes(reason), stderr);
  }
});
