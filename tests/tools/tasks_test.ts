// The tasks that run the service, used as their users do: permissions, the packages of the
// first start in a clone, and an older Deno.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { type Output, output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

/** Tries what the service must not be permitted to do, and prints what was permitted. */
const PROBE = `
const attempts = {
  "read a file": () => Deno.readTextFileSync("/etc/passwd"),
  "read its own folder": () => [...Deno.readDirSync(".")],
  "write a file": () => Deno.writeTextFileSync("/tmp/probe", ""),
  "read the environment": () => Deno.env.get("PATH"),
  "start a process": () => new Deno.Command("true").outputSync(),
  // Loopback, so that nothing leaves this machine even if permitted
  "connect to another host": () => Deno.connect({ hostname: "127.0.0.2", port: 9 }),
  "look up a host name": () => Deno.resolveDns("localhost", "A"),
  "load a library": () => Deno.dlopen("libc.so.6", {}),
  "read the host's name": () => Deno.hostname(),
};
for (const [name, attempt] of Object.entries(attempts)) {
  const result = await Promise.try(attempt).catch((error) => error);
  if (!(result instanceof Deno.errors.NotCapable)) console.log(name);
}
Deno.networkInterfaces(); // for the start report
console.log("Permitted: nothing else");`;

/** Runs the task in a folder, with the "--" that npm users type before flags. */
const start = (cwd: string): ConstructorParameters<typeof Program> => [
  Deno.execPath(),
  ["task", "-q", "start", "--", "--port", "0"],
  { cwd },
];

Deno.test("`deno task start` runs the service without unnecessary permissions", async () => {
  using project = await Folder.ofProject();
  await using program = new Program(...start(project.path));
  await program.waitUntilListening();
  await program.waitForAnswer();
  assertEquals((await program.stop()).code, 0);
  await project.write("main.ts", PROBE);
  const { code, stdout } = await output(...start(project.path));
  assertEquals([code, stdout], [0, "Permitted: nothing else\n"]);
});

const FLAGS = ".tools/std/flags";

/** Creates a clone that has not been used yet. */
async function createClone(): Promise<Folder> {
  const clone = await Folder.ofProject();
  await Deno.remove(`${clone.path}/${FLAGS}`);
  return clone;
}

/** Starts the service, which only prints its version, with a cache of the clone's own. */
function printVersion({ path }: Folder, registry: string): Promise<Output> {
  const env = { JSR_URL: registry, DENO_DIR: `${path}/cache` };
  const args = ["task", "-q", "start", "--version"];
  return output(Deno.execPath(), args, { cwd: path, env });
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
    const first = await printVersion(clone, registry);
    assertEquals(
      first.stderr,
      `${registry} cannot be reached: this clone now uses the stand-ins in ` +
        `.tools/std for the @std packages. To look again, delete ${FLAGS}\n`,
    );
    assertMatch(first.stdout, /^datasensor /);
    const next = await printVersion(clone, registry);
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
        `Deno ${Deno.version.deno} is too old: this repository needs 99.1.2 or newer
Run "deno upgrade 99.1.2", or "npx --yes deno@99.1.2" in place of "deno"
`,
    });
  }
});
