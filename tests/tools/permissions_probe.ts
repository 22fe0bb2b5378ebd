// Runs instead of main.ts with the service's flags: tries what the service must
// not be permitted to do, and prints what was permitted.

const ATTEMPTS: Record<string, () => unknown> = {
  "read a file": () => Deno.readTextFileSync("/etc/passwd"),
  "read its own folder": () => [...Deno.readDirSync(".")],
  "write a file": () => Deno.writeTextFileSync("/tmp/probe", ""),
  "read the environment": () => Deno.env.get("PATH"),
  "start a process": () => new Deno.Command("true").outputSync(),
  "connect to another host": () =>
    // Loopback, so that nothing leaves this machine even if permitted
    Deno.connect({ hostname: "127.0.0.2", port: 9 }),
  "look up a host name": () => Deno.resolveDns("localhost", "A"),
  "load a library": () => Deno.dlopen("libc.so.6", {}),
  "read the host's name": () => Deno.hostname(),
};

const permitted: string[] = [];
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  const result = await Promise.try(attempt).catch((error) => error);
  if (!(result instanceof Deno.errors.NotCapable)) permitted.push(name);
}
const text = `Permitted: ${permitted.join(", ") || "nothing"}\n`;
Deno.stdout.writeSync(new TextEncoder().encode(text));
