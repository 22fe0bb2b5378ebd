// The task that runs the service, used as its users do.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
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
console.log("Permitted: nothing else");`;

/** Runs the task in a folder, with the "--" that npm users type before flags. */
const start = (cwd: string): ConstructorParameters<typeof Program> => [
  Deno.execPath(),
  ["task", "-q", "start", "--", "--port", "0"],
  { cwd, killGroup: true },
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
