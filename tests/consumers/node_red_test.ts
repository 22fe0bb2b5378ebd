// Node-RED runs the flow that reads the boards.

import { assert, assertEquals } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { NodeRed } from "./node_red.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/machine.ts";

Deno.test(
  "node-red.json passes on the reading, and nothing without a current one",
  needs("node-red"),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start();
    await board.say("21.5");
    await using nodeRed = await NodeRed.start(folder, board.host);
    await nodeRed.waitFor(() => nodeRed.stdout.includes("Started flows"));
    const start = performance.now();
    await nodeRed.waitFor(() => nodeRed.readings.length >= 1);
    const duration = performance.now() - start;
    assert(duration < 4000, `It took ${duration} ms`); // not after 5 s
    await board.becomeStale();
    const { length } = await board.requests();
    await nodeRed.inject();
    const { program } = board;
    await program.waitFor(() => program.requests.length >= length + 2);
    const { request, status } = program.requests.at(-1)!;
    assertEquals([request, status], ["GET /datasensor", "503"]);
    await board.say("22");
    await nodeRed.waitFor(() => nodeRed.readings.includes("22")); // after 5 s
    await board.goDown();
    await nodeRed.inject();
    await nodeRed.waitFor(() => nodeRed.stdout.includes("ECONNREFUSED"));
    assertEquals(new Set(nodeRed.readings), new Set(["21.5", "22"]));
  },
);

Deno.test(
  "node-red.json passes on the JSON object of a service with --json",
  needs("node-red"),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start("--json");
    await board.say('{"model":"Acurite-Tower","temperature_C":21.5}');
    await using nodeRed = await NodeRed.start(folder, board.host);
    const logged = "{ model: 'Acurite-Tower', temperature_C: 21.5 }";
    await nodeRed.waitFor(() => nodeRed.stdout.includes(logged));
  },
);
