// Prometheus reads the board through collectd, and probes it through
// blackbox_exporter.

import { assert, assertEquals } from "@std/assert";
import {
  BlackboxExporter,
  missingBlackboxExporter,
} from "./blackbox_exporter.ts";
import { SimulatedBoard } from "./simulated_board.ts";
import { Collectd } from "./collectd.ts";
import { copyExample, listBoards } from "./examples.ts";
import { Prometheus } from "./prometheus.ts";
import { Folder } from "../helpers/files.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { KEYS } from "./radio.ts";

Deno.test(
  "blackbox_exporter.yml probes the board over IPv4, and fails without a current reading",
  needs({ missing: [missingBlackboxExporter()] }),
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
    await using other = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      ({ url }) =>
        url.endsWith("/datasensor")
          ? new Response(null, { status: 302, headers: { location: "/" } })
          : new Response("21.5"),
    );
    const redirected = await exporter.probe(`http://BOARD:${other.addr.port}`);
    assertEquals(redirected.get("probe_success"), 0);
    assertEquals(redirected.get("probe_http_status_code"), 302);
    await board.goDown();
    const down = await probe();
    assertEquals(down.get("probe_success"), 0);
    assertEquals(down.get("probe_http_status_code"), 0);
  },
);

Deno.test(
  "the page installs and restarts the programs by the names of their units",
  needs({
    commands: ["collectd", "prometheus"],
    missing: [missingBlackboxExporter()],
  }),
  async () => {
    const installed = consumersGuide.line("sudo apt install prometheus");
    const restarted = consumersGuide.line("systemctl restart collectd");
    const [, , , ...packages] = installed.split(" ");
    const [, , , ...units] = restarted.split(" ");
    assertEquals(packages.toSorted(), units.toSorted());
    for (const unit of units) {
      await Deno.stat(`/lib/systemd/system/${unit}.service`);
    }
  },
);

Deno.test(
  "prometheus.yml records the readings of two boards and their age, and alerts without a current one",
  needs({
    commands: ["collectd", "prometheus"],
    missing: [missingBlackboxExporter()],
  }),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start();
    await using other = await SimulatedBoard.start();
    await board.say("21.5");
    await other.say("7");
    await listBoards(folder, [board.host, other.host]);
    await using collectd = await Collectd.start(folder, "collectd.conf");
    using port = new ReservedPort();
    await using prometheus = await Prometheus.start(
      folder,
      collectd.port,
      port.number,
    );
    const fires = (alert: string, label: string) =>
      `ALERTS{alertname="Datasensor${alert}",alertstate="firing",${label}}`;
    const queries = ({ host }: SimulatedBoard) => {
      const label = `instance="${host}"`;
      const age = `datasensor_reading_age_seconds{${label}}`;
      return {
        reading: `collectd_curl_gauge{job="datasensor_collectd",${label}}`,
        age,
        isYoung: `${age} >= 0 < bool 60`,
        missing: fires("ReadingMissing", label),
      };
    };
    const first = queries(board);
    const second = queries(other);
    const collectdDown = fires("CollectdDown", 'job="datasensor_collectd"');
    const exporterDown = fires("BlackboxExporterDown", 'job="datasensor"');
    await prometheus.waitForValue(exporterDown, 1); // not started yet
    await prometheus.waitForValue(first.missing, undefined);
    const options = { port: port.number };
    await using _exporter = await BlackboxExporter.start(folder, options);
    await prometheus.waitForValue(exporterDown, undefined);
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

Deno.test(
  "datasensor_rules.yml records the age at the last scrape, 1 s too small to 2 s too large, with Debian's interval of 15 s",
  needs({ commands: ["prometheus"], missing: [missingBlackboxExporter()] }),
  async () => {
    using folder = await Folder.create();
    const options = { hasInput: true };
    await using resting = await Program.start(["--stdin"], options);
    await using busy = await Program.start(["--stdin"], options);
    const boards = [resting, busy].map((program) => ({
      program,
      host: `127.0.0.1:${program.port}`,
      readings: [] as number[], // when they were written, in s since 1970
    }));
    const write = async ({ program, readings }: typeof boards[number]) => {
      readings.push(Date.now() / 1000);
      await program.write("21.5\n");
    };
    await Promise.all(boards.map(write));
    const timer = setInterval(write, 1000, boards[1]!);
    try {
      await listBoards(folder, boards.map(({ host }) => host));
      await using exporter = await BlackboxExporter.start(folder);
      using noCollectd = new ReservedPort();
      // Each second, to see the rule at any time between two scrapes
      const intervals = { interval: "15s", evaluation: "1s" };
      await using prometheus = await Prometheus.start(
        folder,
        noCollectd.number,
        exporter.port,
        intervals,
      );
      for (const { host, readings } of boards) {
        const label = `{instance="${host}"}`;
        const age = `datasensor_reading_age_seconds${label}`;
        const isSeen = `count_over_time(${age}[1m]) >= bool 16`;
        await prometheus.waitForValue(isSeen, 1, 45_000);
        const scrapes = await prometheus.lastMinute(
          `probe_http_last_modified_timestamp_seconds${label}`,
        );
        for (const { time, value } of await prometheus.lastMinute(age)) {
          const scrape = scrapes.findLast((scrape) => scrape.time <= time)!;
          if (time - scrape.time < 5) continue; // it may not have ended
          const reading = readings.findLast((it) => it <= scrape.time)!;
          const error = value - (scrape.time - reading);
          assert(-1 <= error && error <= 2, `The error is ${error} s`);
        }
      }
    } finally {
      clearInterval(timer);
    }
  },
);

Deno.test(
  "collectd_json.conf and prometheus.yml provide a value of one radio sensor, as the guide says",
  needs({ commands: ["collectd", "prometheus"] }),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start("--json");
    await board.say(`{"${KEYS[0]}":{"temperature_C":-21.5},"x":{"t":1}}`);
    await listBoards(folder, [board.host]);
    const [, key] = consumersGuide.match(/^collectd_json\.conf: (.*)/m);
    const [, label] = consumersGuide.match(/^Prometheus: (.*)/m);
    const values = { ":5000": "", "temperature_C": key! };
    const options = { values };
    const example = "collectd_json.conf";
    await using collectd = await Collectd.start(folder, example, options);
    using noExporter = new ReservedPort();
    await using prometheus = await Prometheus.start(
      folder,
      collectd.port,
      noExporter.number,
    );
    const series = `collectd_curl_json_temperature{${label},instance="`;
    await prometheus.waitForValue(`${series}${board.host}"}`, -21.5);
  },
);

/** Runs promtool, which must accept what it checks. */
async function promtool(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await output("promtool", args);
  assertEquals(code, 0, stdout + stderr);
}

Deno.test(
  "prometheus.yml is valid",
  needs({ commands: ["promtool"] }),
  async () => {
    using folder = await Folder.create();
    await copyExample(folder, "datasensor_rules.yml", {});
    const path = await copyExample(folder, "prometheus.yml", {});
    await promtool("check", "config", path);
  },
);

/** Returns an alert, as promtool expects it. */
const alertOf = (labels: string, summary: string) =>
  `{ exp_labels: { ${labels}, severity: warning },
     exp_annotations: { summary: "${summary}" } }`;
const MISSING = {
  name: "DatasensorReadingMissing",
  fired: alertOf("job: datasensor, instance: a", "a has no current reading"),
};
const NO_EXPORTER = {
  name: "DatasensorBlackboxExporterDown",
  fired: alertOf(
    "job: datasensor",
    "blackbox_exporter is down: missing readings are not noticed",
  ),
};
const NO_COLLECTD = {
  name: "DatasensorCollectdDown",
  fired: alertOf(
    "job: datasensor_collectd, instance: 127.0.0.1:9103",
    "collectd at 127.0.0.1:9103 is down: no readings are recorded",
  ),
};

/** Which alert must fire when, and which must not. */
const ALERTS: { second: number; name: string; fired?: string }[] = [
  { second: 129, name: MISSING.name },
  { second: 130, ...MISSING },
  { second: 199, ...MISSING },
  { second: 200, name: MISSING.name },
  { second: 229, name: NO_EXPORTER.name },
  { second: 230, ...NO_EXPORTER },
  { second: 299, ...NO_EXPORTER },
  { second: 300, name: NO_EXPORTER.name },
  { second: 350, name: MISSING.name },
  { second: 429, name: NO_COLLECTD.name },
  { second: 430, ...NO_COLLECTD },
  { second: 500, name: NO_COLLECTD.name },
];

/**
 * The reading of a becomes too old at 100 s, and its probes take too long from 150 s on.
 * blackbox_exporter is down from 200 s to 290 s, and collectd from 400 s to 490 s.
 * Another job always fails.
 *
 * Of the boards, a and b are read by collectd. It gets no number of c, and nothing of
 * d; e is down. collectd itself is down from 100 s on.
 */
const RULE_TESTS = `
rule_files: [datasensor_rules.yml]
evaluation_interval: 1s
tests:
  - name: the age at the last scrape
    interval: 15s
    input_series:
      - series: probe_http_last_modified_timestamp_seconds{job="datasensor"}
        values: "0x4"
      - series: probe_http_last_modified_timestamp_seconds{job="website"}
        values: "0x4"
    promql_expr_test:
      - expr: datasensor_reading_age_seconds
        eval_time: 59s
        exp_samples:
          - labels: datasensor_reading_age_seconds{job="datasensor"}
            value: 45
  - name: a missing reading
    interval: 10s
    input_series:
      - series: up{job="datasensor", instance="a"}
        values: "1x14 0x14 1x29"
      - series: up{job="datasensor", instance="b"}
        values: "1x19 0x9 1x29"
      - series: probe_success{job="datasensor", instance="a"}
        values: "1x9 0x4 stale _x14 1x29"
      - series: probe_success{job="datasensor", instance="b"}
        values: "1x19 stale _x9 1x29"
      - series: up{job="datasensor_collectd", instance="127.0.0.1:9103"}
        values: "1x39 0x9 1x9"
      - series: up{job="website"}
        values: "0x60"
      - series: probe_success{job="website"}
        values: "0x60"
    alert_rule_test:
${
  ALERTS.map(({ second, name, fired = "" }) => `
      - eval_time: ${second}s
        alertname: ${name}
        exp_alerts: [${fired}]
`).join("")
}
  - name: a reading that is not collected
    interval: 10s
    input_series:
      - series: up{job="datasensor_collectd"}
        values: "1x9 0x20"
${
  ["1", "1", "1", "1", "0"].map((success, index) => `
      - series: probe_success{job="datasensor", instance="${"abcde"[index]}"}
        values: "${success}x30"
`).join("")
}
      - series: collectd_curl_gauge{instance="a"}
        values: "21.5x30"
      - series: collectd_curl_json_temperature{instance="b"}
        values: "21.5x30"
      - series: collectd_curl_gauge{instance="c"}
        values: "${"NaN ".repeat(12)}"
    alert_rule_test:
      - eval_time: 29s
        alertname: DatasensorReadingNotCollected
      - eval_time: 30s
        alertname: DatasensorReadingNotCollected
        exp_alerts:
${
  ["c", "d"].map((board) => `
          - exp_labels: { job: datasensor, instance: ${board}, severity: warning }
            exp_annotations: { summary: "collectd does not get the reading of ${board}" }
`).join("")
}
      - eval_time: 100s
        alertname: DatasensorReadingNotCollected
`;

Deno.test(
  "datasensor_rules.yml records the age of a reading and alerts if it is missing or not collected, ignoring other jobs",
  needs({ commands: ["promtool"] }),
  async () => {
    using folder = await Folder.create();
    await copyExample(folder, "datasensor_rules.yml", {});
    const path = `${folder.path}/tests.yml`;
    await Deno.writeTextFile(path, RULE_TESTS);
    await promtool("test", "rules", path);
  },
);
