// Prometheus reads many boards, of which most are hanging, stale or down. The other
// programs do so in their own tests.

import { assertEquals } from "@std/assert";
import {
  BlackboxExporter,
  missingBlackboxExporter,
} from "./blackbox_exporter.ts";
import { Collectd } from "./collectd.ts";
import { listBoards } from "./examples.ts";
import { assertKeepsReading, Fleet, missingAddresses } from "./fleet.ts";
import { Prometheus } from "./prometheus.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { waitFor } from "../helpers/wait.ts";

/**
 * How long the alerts may take to fire, in ms: an interval of Prometheus until a board
 * is probed, a time-out, the 30 s of the rule, and intervals until it is evaluated.
 */
const ALERT_LIMIT_MS = 120_000;

/** How old a reading may be, in s: two intervals of Prometheus. */
const AGE_LIMIT_S = 30;

Deno.test(
  "prometheus.yml keeps reading 4 live boards of 20, and alerts for the others",
  needs({
    commands: ["collectd", "prometheus"],
    missing: [missingBlackboxExporter(), missingAddresses()],
  }),
  async () => {
    using folder = await Folder.create();
    await using fleet = await Fleet.start();
    await listBoards(folder, fleet.boards);
    const asInDebian = { interval: 10 };
    await using collectd = await Collectd.start(
      folder,
      "collectd.conf",
      asInDebian,
    );
    // A late answer about a hanging board would be none, and begin the 30 s again
    const margin = { margin: 5 };
    await using exporter = await BlackboxExporter.start(folder, margin);
    await using prometheus = await Prometheus.start(
      folder,
      collectd.port,
      exporter.port,
      { interval: "15s", rules: {} }, // as in Debian
    );
    const fired = 'ALERTS{alertstate="firing"}';
    const expected = fleet.missing
      .map((board) => `DatasensorReadingMissing ${board}`).toSorted();
    const listAlerts = async (query: string) =>
      (await prometheus.evaluate(query))
        .map(({ metric }) => `${metric.alertname} ${metric.instance}`)
        .toSorted();
    await waitFor(
      `${expected.length} alerts`,
      () => listAlerts(fired),
      ({ length }) => length >= expected.length,
      { limit: ALERT_LIMIT_MS },
    );
    await assertKeepsReading(async () => {
      const readings = await prometheus.evaluate("collectd_curl_gauge");
      return readings.map(({ value }) => value[1]).join(" ");
    }, AGE_LIMIT_S);
    assertEquals(await listAlerts(fired), expected);
    const all = `count_over_time(${fired}[5m])`; // even if they have ended
    assertEquals(await listAlerts(all), expected);
  },
);
