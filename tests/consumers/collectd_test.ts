// collectd reads the board and exports its readings to Prometheus.

import { assertMatch } from "@std/assert";
import { assertKeepsReading, Fleet, missingAddresses } from "./fleet.ts";
import { SimulatedBoard } from "./simulated_board.ts";
import { Collectd } from "./collectd.ts";
import { listBoards } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

const GAUGE = (board: string) =>
  `collectd_curl_gauge{curl="${board}",type="datasensor",instance="monitor"}`;
const TEMPERATURE = (board: string) =>
  `collectd_curl_json_temperature{curl_json="${board}",type="temperature_C",instance="monitor"}`;
const OBJECT =
  '{"time":"2026-11-21 17:14:56","model":"Acurite-Tower","id":1234,"temperature_C":-21.5}';

/** An example, the service's flags, two readings, and what collectd exports. */
type Case = [
  example: string,
  flags: string[],
  first: string, // contains the number -21.5
  second: string, // contains the number 22
  metric: (board: string) => string,
  whenStale: string[],
];

const CASES: Case[] = [
  ["collectd.conf", [], "-21.5", "22", GAUGE, ["nan"]],
  ["collectd.conf", ["--json"], "-21.5", "2.2e+01", GAUGE, ["nan"]],
  [
    "collectd_json.conf",
    ["--json"],
    OBJECT,
    '{"temperature_C":22}',
    TEMPERATURE,
    [],
  ],
];

for (const [example, flags, first, second, metric, whenStale] of CASES) {
  Deno.test(
    `${example} with [${flags}] exports the number, ${
      whenStale.length ? "NaN" : "nothing"
    } after a 503, and nothing while the board is down`,
    needs({ commands: ["collectd"] }),
    async () => {
      using folder = await Folder.create();
      await using board = await SimulatedBoard.start(...flags);
      await board.say(first);
      await listBoards(folder, [board.host]);
      await using collectd = await Collectd.start(folder, example);
      const exported = metric(board.host);
      await collectd.waitForMetrics(`${exported} -21.5`);
      await board.becomeStale();
      const stale = whenStale.map((value) => `${exported} ${value}`);
      await collectd.waitForMetrics(...stale);
      await board.say(second);
      await collectd.waitForMetrics(`${exported} 22`);
      await board.goDown();
      await collectd.waitForMetrics();
    },
  );

  Deno.test(
    `${example} with [${flags}] reads a second board while the first is down`,
    needs({ commands: ["collectd"] }),
    async () => {
      using folder = await Folder.create();
      await using other = await SimulatedBoard.start(...flags);
      await other.say(first);
      using nobody = new ReservedPort();
      await listBoards(folder, [`127.0.0.1:${nobody}`, other.host]);
      await using collectd = await Collectd.start(folder, example);
      await collectd.waitForMetrics(`${metric(other.host)} -21.5`);
      await other.say(second);
      await collectd.waitForMetrics(`${metric(other.host)} 22`);
    },
  );
}

for (const [example, flags, reading] of CASES) {
  Deno.test(
    `${example} with [${flags}] exports when collectd read the board, not when the sensor measured`,
    needs({ commands: ["collectd"] }),
    async () => {
      using folder = await Folder.create();
      const args = ["--stdin", ...flags];
      const options = { hasInput: true };
      await using program = await Program.start(args, options);
      await program.write(`${reading}\n`);
      await listBoards(folder, [`127.0.0.1:${program.port}`]);
      await using collectd = await Collectd.start(folder, example);
      const read = async () => (await collectd.times())[0];
      const first = (await waitFor("a time stamp", read))!;
      const isLater = (time?: number) => time !== undefined && time > first;
      await waitFor(`a time stamp after ${first}`, read, isLater);
    },
  );
}

for (const example of ["collectd.conf", "collectd_json.conf"]) {
  Deno.test(
    `${example} limits collectd's interval after a failure to 10 s`,
    needs({ commands: ["collectd"] }),
    async () => {
      using folder = await Folder.create();
      using nobody = new ReservedPort();
      await listBoards(folder, [`127.0.0.1:${nobody}`]);
      const options = { interval: 10 };
      await using collectd = await Collectd.start(folder, example, options);
      const [line] = await collectd.waitForMatch(/Will suspend it .*\n/);
      assertMatch(line, /Will suspend it for 10\.000 seconds/);
    },
  );
}

Deno.test(
  "collectd.conf keeps reading 4 live boards of 20",
  needs({ commands: ["collectd"], missing: [missingAddresses()] }),
  async () => {
    using folder = await Folder.create();
    await using fleet = await Fleet.start();
    await listBoards(folder, fleet.boards);
    const asInDebian = { interval: 10 };
    const example = "collectd.conf";
    await using collectd = await Collectd.start(folder, example, asInDebian);
    await assertKeepsReading(() => collectd.metrics(), 20);
  },
);
