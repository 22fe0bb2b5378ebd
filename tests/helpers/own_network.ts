// A network in which a program has every port and address for itself.

import { missingCommand } from "./needs.ts";
import { type Output, output, type Process } from "./process.ts";

/** The addresses of its loopback interface besides 127.0.0.1 and ::1. */
export const ADDRESSES = ["192.0.2.7", "2001:db8::7"];

/** Users may create networks only together with a namespace of users. */
const USERS = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];

const SCRIPT = `ip link set lo up
${ADDRESSES.map((it) => `ip address add ${it} dev lo`).join("\n")}
exec "$@"`;

/** A command that runs another one in such a network. */
export const WITH_OWN_NETWORK = [
  ...["unshare", ...USERS, "--net"],
  ...["sh", "-ec", SCRIPT, "sh"],
];

/** Tells whether it can be created here. */
export function missingOwnNetwork(): string | undefined {
  const missing = missingCommand("unshare", "nsenter", "ip");
  if (missing) return missing;
  const [command, ...args] = [...WITH_OWN_NETWORK, "true"];
  const { success } = new Deno.Command(command!, { args }).outputSync();
  if (!success) return "run it where networks can be created, as root or not";
}

/** Runs a command in the network of a process. */
export function outputInNetworkOf(
  { pid }: Process,
  ...command: string[]
): Promise<Output> {
  const users = USERS.length > 0 ? ["--user", "--preserve-credentials"] : [];
  const args = ["--target", `${pid}`, ...users, "--net", ...command];
  return output("nsenter", args);
}
