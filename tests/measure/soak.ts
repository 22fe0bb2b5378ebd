// Serves a million requests and checks that memory and descriptors do not grow.

import { load, print, printProgress, requireWrk, Sensor } from "./load.ts";
import { countDescriptors, residentMemory } from "../helpers/machine.ts";
import { command, Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

const REQUESTS = 1_000_000;

/** The memory at the end may be this many times that after the first tenth. */
const MARGIN = 1.1;

/** Waits until the connections of the load are closed, then measures. */
async function measure(pid: number, idle: number) {
  await waitFor(async () => await countDescriptors(pid) <= idle);
  const memory = await residentMemory(pid);
  return { memory, descriptors: await countDescriptors(pid) };
}

/** Returns whether a service that logs to a file passed. */
async function soak(
  name: string,
  file: string,
  wrap: string[],
  args: string[],
) {
  await Deno.create(file).then((empty) => empty.close());
  const run = [...wrap, ...command(["--port", "0", ...args]).flat()];
  await using program = Program.appendingTo(file, run);
  const { pid } = program;
  const url = `http://127.0.0.1:${await program.portIn(file)}/datasensor`;
  const idle = await countDescriptors(pid);
  let requests = 0;
  let first;
  let last;
  while (requests < REQUESTS) {
    requests += (await load(url, 2)).requests;
    last = await measure(pid, idle);
    if (requests >= REQUESTS / 10) first ??= last;
    const { memory, descriptors } = last;
    const megabytes = memory.toFixed(1);
    printProgress(
      `${name}: ${requests} requests, ${megabytes} MB, ${descriptors} descriptors`,
    );
  }
  await program.stop();
  const lines = (await Deno.readTextFile(file)).match(/ 200 -\n/g)!.length;
  // wrk does not count the requests that run when it ends
  const passed = last!.memory <= first!.memory * MARGIN &&
    last!.descriptors === first!.descriptors && lines >= requests;
  const verdict = passed
    ? "nothing grew"
    : `failed, more than ${MARGIN} times, or a line lost`;
  const from = `${first!.memory.toFixed(1)} to ${last!.memory.toFixed(1)} MB`;
  print(`${name}: ${requests} requests, ${lines} lines, ${from}, ${verdict}`);
  return passed;
}

await requireWrk();
const folder = await Deno.makeTempDir();
try {
  using sensor = await Sensor.create(`${folder}/sensor`);
  const fixed = await soak("the fixed text", `${folder}/fixed`, [], []);
  const { read } = sensor;
  const stdin = await soak("--stdin", `${folder}/stdin`, read, ["--stdin"]);
  Deno.exitCode = fixed && stdin ? 0 : 1;
} finally {
  await Deno.remove(folder, { recursive: true });
}
