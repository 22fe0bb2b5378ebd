import { assertEquals, assertStringIncludes } from "@std/assert";
import { output } from "./helpers/program.ts";

const FALLBACK =
  "--import-map=.tools/std/import_map.json --lock=.tools/std/deno.lock\n";

/** Runs the task `std` with nothing cached and another registry than jsr.io. */
async function resolveStd(registry: string) {
  const cache = await Deno.makeTempDir();
  try {
    const env = { JSR_URL: registry, DENO_DIR: cache };
    const { stdout, stderr } = await output(
      Deno.execPath(),
      ["task", "-q", "std"],
      { env },
    );
    const start = await output(
      Deno.execPath(),
      ["run", ...stdout.split(/\s+/).filter(Boolean), "main.ts", "--version"],
      { env },
    );
    return { stdout, stderr, start };
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

/** Starts a registry for the time of a test. */
function startRegistry(answer: (path: string) => Response) {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => answer(new URL(request.url).pathname),
  );
}

Deno.test("the fallback is used where the registry cannot be reached", async () => {
  const registry = startRegistry(() => new Response());
  const { port } = registry.addr;
  await registry.shutdown(); // nobody answers there any more
  const { stdout, stderr, start } = await resolveStd(
    `http://127.0.0.1:${port}/`,
  );
  assertEquals(stdout, FALLBACK);
  assertEquals(stderr.trim().split("\n").length, 1);
  assertStringIncludes(stderr, "jsr.io cannot be reached");
  assertEquals(start.code, 0);
});

Deno.test("the fallback is used where a proxy blocks the registry", async () => {
  await using registry = startRegistry(() =>
    new Response("Blocked", { status: 403 })
  );
  const { stdout } = await resolveStd(
    `http://127.0.0.1:${registry.addr.port}/`,
  );
  assertEquals(stdout, FALLBACK);
});

Deno.test("the fallback is not used where an integrity check fails", async () => {
  await using registry = startRegistry((path) => {
    if (!path.endsWith("/meta.json")) {
      return Response.json({ manifest: {}, exports: {} }); // forged
    }
    const versions = {
      "1.0.19": {},
      "1.0.14": {},
      "1.1.0": {},
      "0.224.14": {},
    };
    return Response.json({ versions });
  });
  const { stdout, start } = await resolveStd(
    `http://127.0.0.1:${registry.addr.port}/`,
  );
  assertEquals(stdout, "");
  assertStringIncludes(start.stderr, "Integrity check failed");
  assertEquals(start.code, 10);
});

Deno.test("the fallback is not used where the packages can be had or are cached", async () => {
  const source = new TextEncoder().encode("export const data = 1;");
  const digest = await crypto.subtle.digest("SHA-256", source);
  const checksum = `sha256-${new Uint8Array(digest).toHex()}`;
  const registry = startRegistry((path) => {
    if (path.endsWith("/meta.json")) {
      return Response.json({ versions: { "1.0.0": {} } });
    }
    if (path.endsWith("/mod.ts")) return new Response(source);
    return Response.json({
      manifest: { "/mod.ts": { size: source.length, checksum } },
      exports: { ".": "./mod.ts" },
    });
  });
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/tests`);
    for (const file of ["main.ts", "tests/handler_test.ts"]) {
      const code = 'import "jsr:@std/http@1.0.0";';
      await Deno.writeTextFile(`${folder}/${file}`, code);
    }
    const resolve = () =>
      output(
        Deno.execPath(),
        ["run", "--allow-run", `${Deno.cwd()}/.tools/std/resolve.ts`],
        {
          cwd: folder,
          env: {
            JSR_URL: `http://127.0.0.1:${registry.addr.port}/`,
            DENO_DIR: `${folder}/cache`,
          },
        },
      );
    const nothing = { code: 0, signal: null, stdout: "", stderr: "" };
    assertEquals(await resolve(), nothing);
    await registry.shutdown();
    assertEquals(await resolve(), nothing);
    await Deno.remove(`${folder}/cache`, { recursive: true });
    assertEquals((await resolve()).stdout, FALLBACK); // it was the cache
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
