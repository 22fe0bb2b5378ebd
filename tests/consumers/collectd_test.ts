// collectd reads the board and exports its readings to Prometheus.

import { assertMatch } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { Collectd, missingCollectd } from "./collectd.ts";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";

for (const args of [[], ["--json"]]) {
  testUnless(
    missingCollectd,
    `collectd.conf exports the reading, NaN after a 503, and nothing while the board is down [${args}]`,
    async () => {
      using folder = await Folder.create();
      await using board = await SimulatedBoard.start(...args);
      await board.say("-21.5");
      await using collectd = await Collectd.start(
        folder,
        "collectd.conf",
        board.host,
      );
      const metric =
        'collectd_curl_gauge{curl="BOARD",type="datasensor",instance="monitor"}';
      await collectd.waitForMetrics(`${metric} -21.5`);
      await board.becomeStale();
      await collectd.waitForMetrics(`${metric} nan`);
      await board.say("22");
      await collectd.waitForMetrics(`${metric} 22`);
      await board.goDown();
      await collectd.waitForMetrics();
    },
  );
}

testUnless(
  missingCollectd,
  "collectd_json.conf exports a number from the reading, and none without a current reading",
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start("--json");
    await board.say(
      '{"time":"2026-11-21 17:14:56","model":"Acurite-Tower","id":1234,"temperature_C":-21.5}',
    );
    await using collectd = await Collectd.start(
      folder,
      "collectd_json.conf",
      board.host,
    );
    const metric =
      'collectd_curl_json_temperature{curl_json="BOARD",type="temperature_C",instance="monitor"}';
    await collectd.waitForMetrics(`${metric} -21.5`);
    await board.becomeStale();
    await collectd.waitForMetrics();
    await board.say('{"temperature_C":22}');
    await collectd.waitForMetrics(`${metric} 22`);
    await board.goDown();
    await collectd.waitForMetrics();
  },
);

for (const example of ["collectd.conf", "collectd_json.conf"]) {
  testUnless(
    missingCollectd,
    `${example} limits collectd's interval after a failure to 10 s`,
    async () => {
      using folder = await Folder.create();
      const nobody = `127.0.0.1:${freePort()}`;
      await using collectd = await Collectd.start(folder, example, nobody, 10);
      await collectd.waitFor(() => collectd.stdout.includes("Will suspend it"));
      assertMatch(collectd.stdout, /Will suspend it for 10\.000 seconds/);
    },
  );
}
