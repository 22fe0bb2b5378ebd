// Runs with the service's flags in place of main.ts: its handler tries what the
// service must not be permitted to do, and answers with the outcomes.

const ATTEMPTS: Record<string, () => unknown> = {
  "read a file": () => Deno.readTextFileSync("/etc/passwd"),
  "read its own folder": () => [...Deno.readDirSync(".")],
  "write a file": () => Deno.writeTextFileSync("/tmp/probe", ""),
  "read the environment": () => Deno.env.get("PATH"),
  "start a process": () => new Deno.Command("true").outputSync(),
  "connect to another host": () =>
    // Loopback, so that nothing leaves this machine if it is permitted
    Deno.connect({ hostname: "127.0.0.2", port: 9 }),
  "look up a host name": () => Deno.resolveDns("localhost", "A"),
  "load a library": () => Deno.dlopen("libc.so.6", {}),
  "read the host's name": () => Deno.hostname(),
};

async function outcome(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
    return "done";
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) =>
    Deno.stdout.writeSync(
      new TextEncoder().encode(
        ` * Running on http://127.0.0.1:${port}\nPress CTRL+C to quit\n`,
      ),
    ),
}, async () => {
  const outcomes: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    outcomes[name] = await outcome(attempt);
  }
  return Response.json(outcomes);
});
