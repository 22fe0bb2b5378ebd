// The addresses that the program reports at its start.

import { assertEquals } from "@std/assert";
import { type Output, output } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";

/** Users may create networks only together with a namespace of users. */
const USERS = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];

const SCRIPT = `ip link set lo up
for address in 192.0.2.7 2001:db8::7; do ip address add "$address" dev lo; done
exec "$@"`;

/** A command that runs another one in a network of its own, with two more addresses. */
const WITH_OWN_NETWORK = [
  ...["unshare", ...USERS, "--net"],
  ...["sh", "-ec", SCRIPT, "sh"],
];

/** Tells whether that network can be created here. */
function missingOwnNetwork(): string | undefined {
  const reason = missing("unshare", "nsenter", "ip", "curl");
  if (reason) return reason;
  const [command, ...args] = [...WITH_OWN_NETWORK, "true"];
  const { success } = new Deno.Command(command!, { args }).outputSync();
  if (!success) return "run it where networks can be created, as root or not";
}

/** Runs a command in the network of the program. */
function outputInNetworkOf(
  { pid }: Program,
  ...command: string[]
): Promise<Output> {
  const users = USERS.length > 0 ? ["--user", "--preserve-credentials"] : [];
  const args = ["--target", `${pid}`, ...users, "--net", ...command];
  return output("nsenter", args);
}

/** Starts the program in that network. */
async function startInOwnNetwork(...args: string[]): Promise<Program> {
  const run = [...WITH_OWN_NETWORK, ...programCommand(args).flat()];
  const program = new Program(run[0]!, run.slice(1));
  return await program.untilReady(() => program.waitUntilListening());
}

/** The addresses that the program reports for each value of --host. */
const ADDRESSES = {
  "0.0.0.0": ["127.0.0.1", "192.0.2.7"],
  "::": ["127.0.0.1", "192.0.2.7", "[2001:db8::7]"],
  "::1": ["[::1]"],
};

for (const [host, addresses] of Object.entries(ADDRESSES)) {
  Deno.test(
    skipIf(
      missingOwnNetwork(),
      `the program reports all addresses with --host ${host}, and answers there`,
    ),
    async () => {
      await using program = await startInOwnNetwork("--host", host);
      const expected = addresses.map((it) => `http://${it}:5000/datasensor`);
      assertEquals(program.addresses, expected);
      const curl = ["curl", "-sSg", ...expected];
      const { stdout, stderr } = await outputInNetworkOf(program, ...curl);
      assertEquals(stdout, '"Sensor data"'.repeat(expected.length), stderr);
    },
  );
}
