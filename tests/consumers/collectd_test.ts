// collectd reads the board and exports its readings to Prometheus.

import { assertMatch } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { Collectd, missingCollectd } from "./collectd.ts";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";

const GAUGE =
  'collectd_curl_gauge{curl="BOARD",type="datasensor",instance="monitor"}';
const TEMPERATURE =
  'collectd_curl_json_temperature{curl_json="BOARD",type="temperature_C",instance="monitor"}';
const OBJECT =
  '{"time":"2026-11-21 17:14:56","model":"Acurite-Tower","id":1234,"temperature_C":-21.5}';

/** An example, the service's flags, two readings, and what collectd exports. */
type Case = [
  example: string,
  flags: string[],
  first: string, // contains the number -21.5
  second: string, // contains the number 22
  metric: string,
  whenStale: string[],
];

const CASES: Case[] = [
  ["collectd.conf", [], "-21.5", "22", GAUGE, [`${GAUGE} nan`]],
  ["collectd.conf", ["--json"], "-21.5", "2.2e+01", GAUGE, [`${GAUGE} nan`]],
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
  testUnless(
    await missingCollectd(),
    `${example} with [${flags}] exports the number, ${
      whenStale.length ? "NaN" : "nothing"
    } after a 503, and nothing while the board is down`,
    async () => {
      using folder = await Folder.create();
      await using board = await SimulatedBoard.start(...flags);
      await board.say(first);
      const boards = { "BOARD:5000": board.host };
      await using collectd = await Collectd.start(folder, example, boards);
      await collectd.waitForMetrics(`${metric} -21.5`);
      await board.becomeStale();
      await collectd.waitForMetrics(...whenStale);
      await board.say(second);
      await collectd.waitForMetrics(`${metric} 22`);
      await board.goDown();
      await collectd.waitForMetrics();
    },
  );

  testUnless(
    await missingCollectd(),
    `${example} with [${flags}] reads a second board while the first is down`,
    async () => {
      using folder = await Folder.create();
      await using other = await SimulatedBoard.start(...flags);
      await other.say(first);
      await using collectd = await Collectd.start(folder, example, {
        "BOARD:5000": `127.0.0.1:${freePort()}`,
        "OTHER:5000": other.host,
      });
      const exported = metric.replace("BOARD", "OTHER");
      await collectd.waitForMetrics(`${exported} -21.5`);
      await other.say(second);
      await collectd.waitForMetrics(`${exported} 22`);
    },
  );
}

for (const example of ["collectd.conf", "collectd_json.conf"]) {
  testUnless(
    await missingCollectd(),
    `${example} limits collectd's interval after a failure to 10 s`,
    async () => {
      using folder = await Folder.create();
      const boards = { "BOARD:5000": `127.0.0.1:${freePort()}` };
      await using collectd = await Collectd.start(folder, example, boards, 10);
      const suspended = /Will suspend it .*\n/;
      await collectd.waitFor(() => suspended.test(collectd.stdout));
      assertMatch(collectd.stdout, /Will suspend it for 10\.000 seconds/);
    },
  );
}
