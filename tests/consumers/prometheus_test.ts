// Prometheus reads the board through collectd, and probes it through
// blackbox_exporter.

import { assert, assertEquals } from "@std/assert";
import {
  BlackboxExporter,
  missingBlackboxExporter,
} from "./blackbox_exporter.ts";
import { SimulatedBoard } from "./simulated_board.ts";
import { Collectd, missingCollectd } from "./collectd.ts";
import { copyExample } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { freePort, get } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";

/** An element of a result of Prometheus. */
interface Sample {
  value: [time: number, value: string];
}

/** Prometheus with the example, which it evaluates twice a second. */
class Prometheus extends Process {
  readonly #origin: string;

  static async start(
    folder: Folder,
    board: SimulatedBoard,
    other: SimulatedBoard,
    collectdPort: number,
    exporterPort: number,
  ): Promise<Prometheus> {
    const path = await copyExample(folder, "prometheus.yml", {
      "BOARD:5000": `BOARD:${board.program.port}`,
      "OTHER:5000": `OTHER:${other.program.port}`,
      "127.0.0.1:9103": `127.0.0.1:${collectdPort}`,
      "127.0.0.1:9115": `127.0.0.1:${exporterPort}`,
    });
    await copyExample(folder, "datasensor_rules.yml", {
      "for: 30s": "for: 0s",
    });
    const global =
      "global:\n  scrape_interval: 500ms\n  evaluation_interval: 500ms\n";
    const example = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, global + example);
    const prometheus = new Prometheus(folder, path, freePort());
    await prometheus.waitFor(() => prometheus.stderr.includes("is ready"));
    return prometheus;
  }

  private constructor(folder: Folder, path: string, port: number) {
    super("prometheus", [
      `--config.file=${path}`,
      `--storage.tsdb.path=${folder.path}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    this.#origin = `http://127.0.0.1:${port}`;
  }

  /** Returns the value of an expression, or undefined if it has none. */
  async evaluate(query: string): Promise<number | undefined> {
    const parameters = new URLSearchParams({ query });
    const response = await get(`${this.#origin}/api/v1/query?${parameters}`);
    const { data } = await response.json();
    const samples: Sample[] = data.result;
    return samples[0] && Number(samples[0].value[1]);
  }

  /** Waits until an expression has a value, or none if it is undefined. */
  async waitForValue(query: string, value: number | undefined): Promise<void> {
    let last: number | undefined;
    await this.waitFor(async () => {
      last = await this.evaluate(query);
      return Object.is(last, value);
    }).catch((error) => assertEquals(last, value, `${query}: ${error}`));
  }
}

testUnless(
  await missingBlackboxExporter(),
  "blackbox_exporter.yml probes the board over IPv4, and fails without a current reading",
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start();
    await using exporter = await BlackboxExporter.start(folder);
    const probe = () => exporter.probe(`http://BOARD:${board.program.port}`);
    await board.say("21.5");
    const live = await probe();
    assertEquals(live.get("probe_success"), 1);
    const age = Date.now() / 1000 -
      live.get("probe_http_last_modified_timestamp_seconds")!;
    assert(age >= 0 && age < 60, `The age is ${age} s`);
    await board.becomeStale();
    const stale = await probe();
    assertEquals(stale.get("probe_success"), 0);
    assertEquals(stale.get("probe_http_status_code"), 503);
    await board.goDown();
    const down = await probe();
    assertEquals(down.get("probe_success"), 0);
    assertEquals(down.get("probe_http_status_code"), 0);
  },
);

testUnless(
  await missingBlackboxExporter() ?? await missingCollectd() ??
    await missingCommand("prometheus"),
  "prometheus.yml records the readings of two boards and their age, and alerts without a current one",
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start();
    await using other = await SimulatedBoard.start();
    await board.say("21.5");
    await other.say("7");
    await using collectd = await Collectd.start(folder, "collectd.conf", {
      "BOARD:5000": board.host,
      "OTHER:5000": other.host,
    });
    const port = freePort();
    await using prometheus = //
      await Prometheus.start(folder, board, other, collectd.port, port);
    const alert =
      'ALERTS{alertname="DatasensorReadingMissing",alertstate="firing"';
    const queries = (name: string, { program }: SimulatedBoard) => {
      const label = `instance="http://${name}:${program.port}/datasensor"`;
      const age = `datasensor_reading_age_seconds{${label}}`;
      return {
        reading:
          `collectd_curl_gauge{job="datasensor_collectd",curl="${name}"}`,
        age,
        isYoung: `${age} >= 0 < bool 60`,
        missing: `${alert},${label}}`,
      };
    };
    const first = queries("BOARD", board);
    const second = queries("OTHER", other);
    const collectdDown = `${alert},job="datasensor_collectd"}`;
    await prometheus.waitForValue(first.missing, 1); // no blackbox_exporter yet
    await prometheus.waitForValue(second.missing, 1);
    await using _exporter = await BlackboxExporter.start(folder, { port });
    await prometheus.waitForValue(first.missing, undefined);
    await prometheus.waitForValue(second.missing, undefined);
    await prometheus.waitForValue(collectdDown, undefined);
    await prometheus.waitForValue(first.isYoung, 1);
    await prometheus.waitForValue(first.reading, 21.5);
    await prometheus.waitForValue(second.reading, 7);
    await board.becomeStale();
    await prometheus.waitForValue(first.missing, 1);
    await prometheus.waitForValue(first.age, undefined);
    await prometheus.waitForValue(first.reading, NaN);
    await board.say("22");
    await prometheus.waitForValue(first.missing, undefined);
    await prometheus.waitForValue(first.reading, 22);
    await board.goDown();
    await prometheus.waitForValue(first.missing, 1);
    await prometheus.waitForValue(first.reading, undefined);
    await other.say("8");
    await prometheus.waitForValue(second.reading, 8);
    await prometheus.waitForValue(second.isYoung, 1);
    await prometheus.waitForValue(second.missing, undefined);
    await collectd.stop();
    await prometheus.waitForValue(collectdDown, 1);
  },
);

/** Runs promtool, which must accept what it checks. */
async function promtool(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await output("promtool", args);
  assertEquals(code, 0, stdout + stderr);
}

const missingPromtool = await missingCommand("promtool");

testUnless(missingPromtool, "prometheus.yml is valid", async () => {
  using folder = await Folder.create();
  await copyExample(folder, "datasensor_rules.yml", {});
  const path = await copyExample(folder, "prometheus.yml", {});
  await promtool("check", "config", path);
});

/** Returns the alert of a job, as promtool expects it. */
const alertOf = (job: string) =>
  `{ exp_labels: { job: ${job}, severity: warning },
     exp_annotations: { summary: "${job} has no current reading from " } }`;

/**
 * The reading becomes too old at 100 s, blackbox_exporter is down from 200 s to
 * 290 s, and collectd from 400 s to 490 s. Another job always fails.
 */
const RULE_TESTS = `
rule_files: [datasensor_rules.yml]
evaluation_interval: 1s
tests:
  - name: the age
    interval: 1s
    input_series:
      - series: probe_http_last_modified_timestamp_seconds{job="datasensor"}
        values: "0x70"
      - series: probe_http_last_modified_timestamp_seconds{job="website"}
        values: "0x70"
    promql_expr_test:
      - expr: datasensor_reading_age_seconds
        eval_time: 61s
        exp_samples:
          - labels: datasensor_reading_age_seconds{job="datasensor"}
            value: 61
  - name: a missing reading
    interval: 10s
    input_series:
      - series: up{job="datasensor"}
        values: "1x19 0x9 1x29"
      - series: probe_success{job="datasensor"}
        values: "1x9 0x9 stale _x9 1x29"
      - series: up{job="datasensor_collectd"}
        values: "1x39 0x9 1x9"
      - series: up{job="website"}
        values: "0x60"
      - series: probe_success{job="website"}
        values: "0x60"
    alert_rule_test:
      - eval_time: 129s
        alertname: DatasensorReadingMissing
      - eval_time: 130s
        alertname: DatasensorReadingMissing
        exp_alerts: [${alertOf("datasensor")}]
      - eval_time: 200s
        alertname: DatasensorReadingMissing
        exp_alerts: [${alertOf("datasensor")}]
      - eval_time: 350s
        alertname: DatasensorReadingMissing
      - eval_time: 430s
        alertname: DatasensorReadingMissing
        exp_alerts: [${alertOf("datasensor_collectd")}]
      - eval_time: 500s
        alertname: DatasensorReadingMissing
`;

testUnless(
  missingPromtool,
  "datasensor_rules.yml records the age of a reading and alerts on a missing one, ignoring other jobs",
  async () => {
    using folder = await Folder.create();
    await copyExample(folder, "datasensor_rules.yml", {});
    const path = `${folder.path}/tests.yml`;
    await Deno.writeTextFile(path, RULE_TESTS);
    await promtool("test", "rules", path);
  },
);
