// deno-lint-ignore-file no-console -- the result is for people

// Serves a million requests and checks that memory and descriptors do not grow.

import { Folder } from "../helpers/files.ts";
import { countDescriptors } from "../helpers/machine.ts";
import { waitFor } from "../helpers/wait.ts";
import { listPeers, type Peer } from "./peers.ts";
import { Server } from "./server.ts";

const REQUESTS = 1_000_000;
const SOAKED = ["this service", "this service, --stdin"];

/** The highest ratio of the final memory to that after the first tenth. */
const GROWTH_LIMIT = 1.1;

/** Returns why a service failed, or undefined if it passed. */
async function soak({ name, command }: Peer, log: string) {
  await using server = await Server.start(command, log);
  const idle = await countDescriptors(server.pid);
  let first = 0;
  let last = 0;
  while (server.requests < REQUESTS) {
    await server.load(2);
    // Fails if a connection of the load stays open
    await waitFor(async () => await countDescriptors(server.pid) <= idle);
    last = await server.memory();
    if (server.requests >= REQUESTS / 10) first ||= last;
    console.error(`${name}: ${server.requests} requests, ${last} MB`);
  }
  const lines = await server.countLines();
  const { requests } = server;
  const growth = `${first} to ${last} MB`;
  console.log(`${name}: ${requests} requests, ${lines} lines, ${growth}`);
  if (last > first * GROWTH_LIMIT) return "Its memory grew";
  if (lines < requests) return "Lines are missing";
}

using folder = await Folder.create();
const peers = await listPeers(folder.path);
for (const soaked of SOAKED) {
  const peer = peers.find(({ name }) => name === soaked)!;
  const failure = await soak(peer, `${folder.path}/${peer.name}.log`);
  console.log(failure ?? "Nothing grew, and no line is lost");
  if (failure) Deno.exitCode = 1;
}
