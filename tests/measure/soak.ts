// Serves a million requests and looks whether memory or descriptors grow.

import { load, print, requireWrk } from "./load.ts";
import { countDescriptors, residentMemory } from "../helpers/machine.ts";
import { command, findAddresses, Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

const REQUESTS = 1_000_000;

/** How much more memory than after the first tenth may be in use at the end. */
const MARGIN = 1.1;

/** Waits until the connections of the load are closed, then measures. */
async function measure(pid: number, idle: number) {
  await waitFor(async () => await countDescriptors(pid) <= idle);
  const memory = await residentMemory(pid);
  return { memory, descriptors: await countDescriptors(pid) };
}

async function soak(file: string): Promise<boolean> {
  const args = command(["--port", "0"]).flat();
  await using program = Program.appendingTo(file, args);
  const { pid } = program;
  const address = () => findAddresses(Deno.readTextFileSync(file))[0];
  await waitFor(() => address() !== undefined);
  const url = new URL("/datasensor", address()).href;
  const idle = await countDescriptors(pid);
  let requests = 0;
  let first;
  while (requests < REQUESTS) {
    requests += (await load(url, 2)).requests;
    const { memory, descriptors } = await measure(pid, idle);
    if (requests >= REQUESTS / 10) first ??= { memory, descriptors };
    print(
      `${requests} requests, ${
        memory.toFixed(1)
      } MB, ${descriptors} descriptors`,
    );
  }
  const last = await measure(pid, idle);
  await program.stop();
  const lines = (await Deno.readTextFile(file)).match(/ 200 -\n/g)!.length;
  print(`${lines} lines`);
  // wrk does not count what was under way when it ended: one a connection
  return last.memory <= first!.memory * MARGIN &&
    last.descriptors === first!.descriptors && lines >= requests;
}

await requireWrk();
const file = await Deno.makeTempFile();
const passed = await soak(file);
await Deno.remove(file);
print(
  passed ? "Nothing grew" : `Failed: more than ${MARGIN} times, or a line lost`,
);
Deno.exit(passed ? 0 : 1);
