// Prometheus probes the board through blackbox_exporter.

import { assertEquals, assertMatch } from "@std/assert";
import { Board } from "./board.ts";
import { copyExample } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import {
  missingCommand,
  missingNamespaces,
  testUnless,
} from "../helpers/machine.ts";
import { freePort, get } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";

/** blackbox_exporter, for which BOARD.local has an IPv6 address too. */
class BlackboxExporter extends Process {
  readonly #target: string;

  static async start(
    folder: Folder,
    board: Board,
  ): Promise<BlackboxExporter> {
    const hosts = `${folder.path}/hosts`;
    await Deno.writeTextFile(hosts, "::1 BOARD.local\n127.0.0.1 BOARD.local\n");
    const file = await copyExample(folder, "blackbox_exporter.yml", {});
    const exporter = new BlackboxExporter(
      hosts,
      file,
      freePort(),
      board.program.port,
    );
    await exporter.waitFor(() => exporter.stderr.includes("Listening on"));
    return exporter;
  }

  private constructor(
    hosts: string,
    file: string,
    readonly port: number,
    boardPort: number,
  ) {
    super("unshare", [
      "--mount",
      "sh",
      "-c",
      'mount --bind "$0" /etc/hosts && exec "$@"',
      hosts,
      "prometheus-blackbox-exporter",
      `--config.file=${file}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--timeout-offset=0.1", // of the time that Prometheus waits
    ]);
    this.#target = `http://BOARD.local:${boardPort}/datasensor`;
  }

  /** Probes the board, and returns the metrics by name. */
  async probe(): Promise<Map<string, number>> {
    const query = new URLSearchParams({
      module: "datasensor",
      target: this.#target,
    });
    const url = `http://127.0.0.1:${this.port}/probe?${query}`;
    const metrics = await (await get(url)).text();
    return new Map(
      [...metrics.matchAll(/^(\w+) (\S+)$/gm)]
        .map(([, name, value]) => [name!, Number(value)]),
    );
  }
}

/** Prometheus with the example, which it runs twice a second. */
class Prometheus extends Process {
  readonly #origin: string;

  static async start(
    folder: Folder,
    board: Board,
    exporter: BlackboxExporter,
  ): Promise<Prometheus> {
    const path = await copyExample(folder, "prometheus.yml", {
      "BOARD.local:5000": `BOARD.local:${board.program.port}`,
      "127.0.0.1:9115": `127.0.0.1:${exporter.port}`,
    });
    await copyExample(folder, "prometheus_rules.yml", {});
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

  /** Returns the value of an expression for the board, if it has one. */
  async evaluate(query: string): Promise<number | undefined> {
    const parameters = new URLSearchParams({ query });
    const response = await get(`${this.#origin}/api/v1/query?${parameters}`);
    const { data } = await response.json();
    const [sample]: Sample[] = data.result;
    if (sample === undefined) return undefined;
    assertMatch(
      sample.metric.instance,
      /^http:\/\/BOARD\.local:\d+\/datasensor$/,
    );
    return Number(sample.value[1]);
  }

  /** Waits until an expression has a value for the board. */
  async waitForValue(query: string): Promise<number> {
    let value: number | undefined;
    await this.waitFor(async () => {
      value = await this.evaluate(query);
      return value !== undefined;
    });
    return value!;
  }

  /** Waits until an expression has no value for the board. */
  async waitForNone(query: string): Promise<void> {
    await this.waitFor(async () => await this.evaluate(query) === undefined);
  }
}

/** An element of a result of Prometheus. */
interface Sample {
  metric: { instance: string };
  value: [time: number, value: string];
}

const missingBlackboxExporter = //
  await missingCommand("prometheus-blackbox-exporter") ??
    await missingNamespaces();

testUnless(
  missingBlackboxExporter,
  "blackbox_exporter.yml probes the board over IPv4, and fails for an old reading and a board that is down",
  async () => {
    using folder = await Folder.create();
    await using board = await Board.start();
    await using exporter = await BlackboxExporter.start(folder, board);
    await board.say("21.5");
    const live = await exporter.probe();
    assertEquals(live.get("probe_success"), 1);
    const age = Date.now() / 1000 -
      live.get("probe_http_last_modified_timestamp_seconds")!;
    assertEquals(age >= 0 && age < 60, true, `${age}`);
    await board.becomeStale();
    const stale = await exporter.probe();
    assertEquals(stale.get("probe_success"), 0);
    assertEquals(stale.get("probe_http_status_code"), 503);
    await board.goDown();
    const down = await exporter.probe();
    assertEquals(down.get("probe_success"), 0);
    assertEquals(down.get("probe_http_status_code"), 0);
  },
);

testUnless(
  missingBlackboxExporter ?? await missingCommand("prometheus"),
  "prometheus.yml records the age of a reading, and alerts when it is too old or the board is down",
  async () => {
    const age = "datasensor_reading_age_seconds";
    const missing =
      'ALERTS{alertname="DatasensorReadingMissing",alertstate="firing"}';
    using folder = await Folder.create();
    await using board = await Board.start();
    await board.say("21.5");
    await using exporter = await BlackboxExporter.start(folder, board);
    await using prometheus = await Prometheus.start(folder, board, exporter);
    const seconds = await prometheus.waitForValue(age);
    assertEquals(seconds >= 0 && seconds < 60, true, `${seconds}`);
    await prometheus.waitForNone(missing);
    await board.becomeStale();
    await prometheus.waitForValue(missing);
    await prometheus.waitForNone(age);
    await board.say("22");
    await prometheus.waitForNone(missing);
    await board.goDown();
    await prometheus.waitForValue(missing);
  },
);

testUnless(
  await missingCommand("promtool"),
  "prometheus_rules.yml alerts when a reading is older than 60 s, but not for other probes",
  async () => {
    using folder = await Folder.create();
    await copyExample(folder, "prometheus_rules.yml", {});
    const tests = `
rule_files: [prometheus_rules.yml]
evaluation_interval: 1s
tests:
  - interval: 1s
    input_series:
      - series: probe_http_last_modified_timestamp_seconds{job="datasensor"}
        values: "0x70"
      - series: probe_http_last_modified_timestamp_seconds{job="website"}
        values: "0x70"
      - series: probe_success{job="website"}
        values: "0x70"
    alert_rule_test:
      - eval_time: 60s
        alertname: DatasensorReadingOld
      - eval_time: 61s
        alertname: DatasensorReadingOld
        exp_alerts: [exp_labels: { job: datasensor }]
      - eval_time: 61s
        alertname: DatasensorReadingMissing
`;
    const path = `${folder.path}/tests.yml`;
    await Deno.writeTextFile(path, tests);
    const { code, stdout, stderr } = //
      await output("promtool", ["test", "rules", path]);
    assertEquals(code, 0, stdout + stderr);
  },
);
