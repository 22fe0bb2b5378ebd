// Node-RED runs the flow that reads the boards.

import { assert, assertEquals } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { Page } from "./browser.ts";
import { NodeRed } from "./node_red.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";

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

/** The nodes that the editor has drawn, each right of the one before. */
const NODES_IN_ROW = `
  [...document.querySelectorAll(".red-ui-flow-node-group")]
    .map((node) => ({ id: node.id, box: node.getBoundingClientRect() }))
    .filter(({ box }, index, nodes) => !(box.left <= nodes[index - 1]?.box.right))
    .map(({ id }) => id)`;

Deno.test(
  "Node-RED's editor shows the flow in node-red.json",
  needs("node-red", "chromium"),
  async () => {
    using folder = await Folder.create();
    const nobody = `127.0.0.1:${freePort()}`;
    await using nodeRed = await NodeRed.start(folder, nobody);
    await nodeRed.waitFor(() => nodeRed.stdout.includes("Started flows"));
    await using editor = await Page.open(nodeRed.origin);
    const tab = 'document.querySelector(".red-ui-tab.active")?.innerText';
    await editor.waitForValue(tab, "datasensor");
    await editor.waitForValue(NODES_IN_ROW, [
      "datasensor-every-5-s",
      "datasensor-boards",
      "datasensor-board",
      "datasensor-request",
      "datasensor-get",
      "datasensor-status",
      "datasensor-reading",
    ]);
  },
);
