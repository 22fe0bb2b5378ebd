// Where the @std packages come from: the first start in a clone decides it.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { type Output, output } from "../helpers/process.ts";

const FLAGS = ".tools/std/flags";

/** Creates a clone that has not been used yet. */
async function createClone(): Promise<Folder> {
  const clone = await Folder.ofProject();
  await Deno.remove(`${clone.path}/${FLAGS}`);
  return clone;
}

/** Starts the service, which only prints its version, with a cache of the clone's own. */
function start({ path }: Folder, registry: string): Promise<Output> {
  const env = { JSR_URL: registry, DENO_DIR: `${path}/cache` };
  const args = ["task", "-q", "start", "--version"];
  return output(Deno.execPath(), args, { cwd: path, env, killGroup: true });
}

Deno.test("the stand-ins are used where jsr.io refuses connections, does not answer, or is blocked by a proxy", async () => {
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  using silent = Deno.listen(address); // it accepts connections
  const block = () => new Response("Blocked", { status: 403 });
  await using proxy = Deno.serve(address, block);
  const refusing = 1; // a port that nobody uses
  for (const port of [refusing, silent.addr.port, proxy.addr.port]) {
    const registry = `http://127.0.0.1:${port}`;
    using clone = await createClone();
    const first = await start(clone, registry);
    assertEquals(
      first.stderr,
      `${registry} cannot be reached: this clone now uses the stand-ins in ` +
        `.tools/std for the @std packages. To look again, delete ${FLAGS}\n`,
    );
    assertMatch(first.stdout, /^datasensor /);
    const next = await start(clone, registry);
    assertEquals([next.stdout, next.stderr], [first.stdout, ""]);
  }
});

Deno.test("each task that needs a newer Deno says which one, before anything else", async () => {
  using clone = await createClone();
  await Deno.writeTextFile(`${clone.path}/.dvmrc`, "99.1.2\n");
  for (const task of ["start", "dev", "test", "check", "bench"]) {
    const args = ["task", "-q", task];
    const ended = await output(Deno.execPath(), args, { cwd: clone.path });
    assertEquals(ended, {
      code: 1,
      stdout: "",
      stderr:
        `Deno ${Deno.version.deno} is too old: this repository needs 99.1 or newer, and is tested with 99.1.2
Run "deno upgrade 99.1.2", or "npx --yes deno@99.1.2" in place of "deno"
`,
    });
  }
});
