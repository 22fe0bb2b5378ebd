// What the program reports at its start: its addresses, or why it cannot listen.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { readme } from "../helpers/guide.ts";
import { missingAddress, needs } from "../helpers/needs.ts";
import { exchange, LAST_GET } from "../helpers/network.ts";
import {
  missingOwnNetwork,
  outputInNetworkOf,
  WITH_OWN_NETWORK,
} from "../helpers/own_network.ts";
import { output } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";

/** Starts the program in a network with two more addresses. */
async function startInOwnNetwork(...args: string[]): Promise<Program> {
  const run = [...WITH_OWN_NETWORK, ...programCommand(args).flat()];
  const program = new Program(run[0]!, run.slice(1));
  return await program.untilReady(() => program.waitUntilListening());
}

/** Asserts that the program answers at each address that it reports. */
async function assertAnswersEverywhere(program: Program): Promise<void> {
  const curl = ["curl", "-sSg", ...program.addresses];
  const { stdout, stderr } = await outputInNetworkOf(program, ...curl);
  const all = '"Sensor data"'.repeat(program.addresses.length);
  assertEquals(stdout, all, stderr);
}

const OWN_NETWORK = needs({
  commands: ["curl"],
  missing: [missingOwnNetwork()],
});

Deno.test(
  "the program prints what the README shows, and answers its curl command and at each address",
  OWN_NETWORK,
  async () => {
    const command = readme.block('\n"Sensor data"').match(/curl http:.*/)![0];
    const [, ...shown] = readme.block("-q start").trimEnd().split("\n");
    await using program = await startInOwnNetwork();
    const curl = ["sh", "-c", command];
    const { stdout } = await outputInNetworkOf(program, ...curl);
    assertEquals(stdout, '"Sensor data"');
    await program.waitForLines(1);
    const withoutTime = (line: string) => line.replace(/\[.*\]/, "[]");
    assertEquals(
      program.stdout.trimEnd().split("\n").map(withoutTime),
      shown.map(withoutTime),
    );
    await assertAnswersEverywhere(program);
  },
);

Deno.test(
  "the program reports all addresses with --host ::, and answers there",
  OWN_NETWORK,
  async () => {
    await using program = await startInOwnNetwork("--host", "::");
    const hosts = ["127.0.0.1", "192.0.2.7", "[2001:db8::7]"];
    const expected = hosts.map((host) => `http://${host}:5000/datasensor`);
    assertEquals(program.addresses, expected);
    assertMatch(program.stdout, /all addresses \(::\)/);
    await assertAnswersEverywhere(program);
  },
);

for (const host of ["127.0.0.1", "::1", "localhost"]) {
  Deno.test(
    `the program answers at the address that it reports for ${host}`,
    needs({ missing: [host === "::1" ? missingAddress("::1") : undefined] }),
    async () => {
      await using program = await Program.start(["--host", host]);
      assertEquals(program.addresses.length, 1);
      const { hostname, port } = new URL(program.url);
      const to = { hostname: hostname.replace(/^\[|\]$/g, ""), port: +port };
      assertMatch(await exchange(to, LAST_GET), /\r\n\r\n"Sensor data"$/);
    },
  );
}

Deno.test("the program exits with 1 and the reason if the port is in use", async () => {
  await using program = await Program.start();
  const port = `${program.port}`;
  const other = await output(...programCommand(["--port", port]));
  assertEquals([other.code, other.stdout], [1, ""]);
  assertMatch(other.stderr, /port \d+: another program uses the port\n.*\n$/);
});

Deno.test("the program exits with 1, or with 2 with --journal, if it can never listen", async () => {
  const env = { DENO_SERVE_ADDRESS: "tcp:192.0.2.7:0" }; // without permission
  for (
    const [flag, code, priority] of [["--debug", 1, ""], [
      "--journal",
      2,
      "<3>",
    ]] as const
  ) {
    const ended = await output(...programCommand([flag]), { env });
    assertEquals(ended.code, code);
    const [reason, remedy] = ended.stderr.split("\n");
    assert(reason?.startsWith(`${priority}Cannot listen`), reason);
    assert(remedy?.startsWith(`${priority}Start it with "deno task`), remedy);
  }
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
  assertMatch(end!, /^<5>Listening after \d+\.\d s$/);
  assertEquals(report[0], " * Debug mode: on");
  assert(!program.stdout.includes("CTRL+C"), "Nobody can press it");
  const start = `${version}\n${warning}\n`;
  assertEquals([stopped.stdout, stopped.stderr], [start, ""]);
});
