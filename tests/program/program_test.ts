// What the program reports at its start: its addresses, or why it cannot listen.

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { missingAddress, needs } from "../helpers/needs.ts";
import { exchange, LAST_GET } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";

Deno.test(
  "the program listens on port 5000 of all addresses by default",
  needs({ missing: [missingAddress("0.0.0.0", 5000)] }),
  async () => {
    await using program = new Program(...programCommand([]));
    await program.waitUntilListening();
    assertMatch(program.stdout, /all addresses \(0\.0\.0\.0\)/);
    assertEquals(program.url, "http://127.0.0.1:5000/datasensor");
    await program.waitForAnswer();
  },
);

for (const host of ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"]) {
  Deno.test(
    `the program answers at every address that it reports for ${host}`,
    needs({
      missing: [host.includes(":") ? missingAddress("::1") : undefined],
    }),
    async () => {
      await using program = await Program.start(["--host", host]);
      assertNotEquals(program.addresses, []);
      for (const address of program.addresses) {
        const { hostname, port } = new URL(address);
        // Not with fetch(), which may use a proxy for this network's addresses
        const to = { hostname: hostname.replace(/^\[|\]$/g, ""), port: +port };
        assertMatch(await exchange(to, LAST_GET), /\r\n\r\n"Sensor data"$/);
      }
    },
  );
}

Deno.test("the program reports every IPv4 address of the machine", async () => {
  // The tests themselves are not permitted to list them
  const code = `for (const { family, address } of Deno.networkInterfaces()) {
    if (family === "IPv4" && !/^127/.test(address)) console.log(address);
  }`;
  const { stdout } = await output(Deno.execPath(), ["eval", code]);
  await using program = await Program.start();
  const reported = program.addresses.map((url) => new URL(url).hostname);
  assertEquals(reported, ["127.0.0.1", ...stdout.match(/.+/g) ?? []]);
});

Deno.test("the program exits with 1 and the reason if the port is in use", async () => {
  await using program = await Program.start();
  const port = `${program.port}`;
  const other = await output(...programCommand(["--port", port]));
  assertEquals([other.code, other.stdout], [1, ""]);
  assertMatch(other.stderr, /port \d+: another program uses the port\n.*\n$/);
});

Deno.test("the program retries with --journal while the port is in use, and answers once it is free", async () => {
  await using other = await Program.start();
  const args = ["--port", `${other.port}`, "--journal"];
  await using program = new Program(...programCommand(args));
  await program.waitForMatch(/WARN/);
  await using stopped = new Program(...programCommand(args));
  await stopped.waitForMatch(/WARN/);
  assertEquals((await stopped.stop()).code, 0);
  assertEquals((await other.stop()).code, 0);
  await program.waitForMatch(/Running on http/);
  await program.waitForAnswer();
  const [version, warning, end, ...report] = program.stdout.split("\n");
  assertMatch(version!, /^datasensor \d\S* \(Deno \S+, \w+\)$/);
  assertMatch(
    warning!,
    /^<4>WARN Cannot listen .*: another program .* --port$/,
  );
  assertMatch(end!, /^<4>WARN Listening after \d+\.\d s$/);
  assertEquals(report[0], " * Debug mode: on");
  assert(!program.stdout.includes("CTRL+C"), "Nobody can press it");
  const start = `${version}\n${warning}\n`;
  assertEquals([stopped.stdout, stopped.stderr], [start, ""]);
});
