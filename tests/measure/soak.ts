// deno-lint-ignore-file no-console -- the result is for people

// Serves a million requests and checks that memory and descriptors do not grow.

import { Folder } from "../helpers/files.ts";
import { countDescriptors } from "../helpers/resources.ts";
import { waitFor } from "../helpers/wait.ts";
import { listPeers } from "./peers.ts";
import { Server } from "./server.ts";

const REQUESTS = 1_000_000;
const SOAKED = ["this service", "this service, --stdin"];
const GROWTH_LIMIT = 1.1; // of the final memory to that after the first tenth

using folder = await Folder.create();
const peers = await listPeers(folder.path);
for (const name of SOAKED) {
  const { command } = peers.find((peer) => peer.name === name)!;
  const log = `${folder.path}/${name}.log`;
  await using server = await Server.start(command, log);
  const idle = await countDescriptors(server.pid);
  let first = 0;
  let last = 0;
  while (server.requests < REQUESTS) {
    await server.load(2);
    // Fails if a connection of the load stays open
    const count = () => countDescriptors(server.pid);
    await waitFor(`${idle} open files`, count, (open) => open <= idle);
    last = await server.memory();
    if (server.requests >= REQUESTS / 10) first ||= last;
    console.log(`${name}: ${server.requests} requests, ${last} MB`);
  }
  const missing = server.requests - await server.countLines();
  if (missing > 0) throw new Error(`${missing} lines are missing`);
  if (last > first * GROWTH_LIMIT) {
    throw new Error(`Memory grew from ${first} to ${last} MB`);
  }
}
console.log("Nothing grew, and no line is lost");
