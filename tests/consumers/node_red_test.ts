// Node-RED runs the flow that reads the boards.

import { assert, assertEquals } from "@std/assert";
import { assertKeepsReading, Fleet, missingAddresses } from "./fleet.ts";
import { SimulatedBoard } from "./simulated_board.ts";
import { NodeRed } from "./node_red.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { waitFor } from "../helpers/wait.ts";

Deno.test(
  "node-red.json passes on the reading, and nothing without a current one",
  needs({ commands: ["node-red"] }),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start();
    await board.say("21.5");
    await using nodeRed = await NodeRed.start(folder, board.host);
    const start = performance.now();
    await waitFor("a reading", () => nodeRed.readings[0]);
    const duration = performance.now() - start;
    assert(duration < 4000, `It took ${duration} ms`); // not after 5 s
    await board.becomeStale();
    const { length } = await board.requests();
    await nodeRed.inject();
    const { program } = board;
    const requests = () => program.requests.length;
    const isEnough = (count: number) => count >= length + 2;
    await waitFor(`${length + 2} requests`, requests, isEnough);
    const { request, status } = program.requests.at(-1)!;
    assertEquals([request, status], ["GET /datasensor", "503"]);
    await board.say("22");
    const readings = () => nodeRed.readings;
    await waitFor("the reading 22", readings, (all) => all.includes("22")); // after 5 s
    await board.goDown();
    await nodeRed.inject();
    await nodeRed.waitForMatch(/ECONNREFUSED/);
    assertEquals(new Set(nodeRed.readings), new Set(["21.5", "22"]));
  },
);

Deno.test(
  "node-red.json passes on the JSON object of a service with --json",
  needs({ commands: ["node-red"] }),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start("--json");
    await board.say('{"model":"Acurite-Tower","temperature_C":21.5}');
    await using nodeRed = await NodeRed.start(folder, board.host);
    await nodeRed.waitForMatch(
      /\{ model: 'Acurite-Tower', temperature_C: 21.5 \}/,
    );
  },
);

Deno.test(
  "node-red.json follows no redirect",
  needs({ commands: ["node-red"] }),
  async () => {
    using folder = await Folder.create();
    let redirects = 0;
    await using board = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      ({ url }) => {
        if (!url.endsWith("/datasensor")) return Response.json("another's");
        if (++redirects > 1) return Response.json("21.5");
        return new Response(null, { status: 302, headers: { location: "/" } });
      },
    );
    const host = `127.0.0.1:${board.addr.port}`;
    await using nodeRed = await NodeRed.start(folder, host);
    await waitFor("a redirect", () => redirects);
    await nodeRed.inject();
    const readings = () => nodeRed.readings;
    await waitFor("the reading 21.5", readings, (all) => all.includes("21.5"));
    assertEquals(new Set(nodeRed.readings), new Set(["21.5"]));
  },
);

Deno.test(
  "node-red.json keeps reading 4 live boards of 20",
  needs({ commands: ["node-red"], missing: [missingAddresses()] }),
  async () => {
    using folder = await Folder.create();
    await using fleet = await Fleet.start();
    await using nodeRed = await NodeRed.start(folder, ...fleet.boards);
    const start = performance.now();
    await assertKeepsReading(() => nodeRed.stdout, 20);
    // Every 5 s, of which one is in flight. By default, Node-RED waits for two minutes
    const rounds = (performance.now() - start) / 5000;
    const timeouts = nodeRed.stdout.match(/no response from server/g) ?? [];
    assert(timeouts.length > 12 * rounds / 2, `${timeouts.length} time-outs`);
  },
);
