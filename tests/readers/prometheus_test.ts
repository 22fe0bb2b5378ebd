// Prometheus reads boards, and its rules find those without a reading.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { skipIf } from "../helpers/skip.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";

/** The settings before the page's lines are added, with intervals for a test. */
const SETTINGS = `
global: { scrape_interval: 500ms, evaluation_interval: 500ms }
rule_files:
scrape_configs:
`;

/** Adds the page's lines to settings, each after the line that they follow. */
function addLines(settings: string): string {
  const [rules, jobs] = readersPage.block("rule_files:").trim()
    .split("\n\n") as [string, string];
  return settings
    .replace("rule_files:", rules)
    .replace("scrape_configs:", jobs);
}

Deno.test(
  skipIf(
    missingMachine("prometheus", "promtool"),
    "Prometheus records the readings of each sensor, and none that is stale",
  ),
  async () => {
    await using machine = await Machine.start();
    const flags = ["--stdin", "--json", "--key", "id", "--max-age", "3"];
    await using service = machine.startService(...flags);
    const install = readersPage.block("apt install prometheus\n");
    const check = readersPage.block("promtool check config");
    const path = "/etc/prometheus/prometheus.yml";
    const edit = `cat >${path} <<'END'\n${addLines(SETTINGS)}END`;
    const typed = `${install}\n${edit}\n${check}`;
    const { code, stdout, stderr } = await machine.type(typed);
    assertEquals(code, 0, stdout + stderr);
    await using _prometheus = machine.start(
      "prometheus",
      `--config.file=${path}`,
      `--storage.tsdb.path=${machine.folder.path}/data`,
    );
    /** Waits for the values of an expression, by their sensor and key. */
    const waitForValues = async (query: string, expected: string) => {
      const ask = `promtool query instant http://localhost:9090 '${query}' |
        sed -n 's/.*key="\\(.*\\)", sensor="\\(.*\\)".* => \\(\\S*\\) @.*/\\2.\\1=\\3/p; s/.*{.*job="datasensor"} => \\(\\S*\\) @.*/\\1/p' |
        sort | paste -sd ' '`;
      await machine.typeUntil(ask, RegExp(`^${expected}\n\\[0\\]$`));
    };
    await waitForValues("up", "0"); // no reading so far
    const near = setInterval(() => service.write('{"id":1,"t":21.5}\n'), 100);
    try {
      await service.write('{"id":2,"t":-3.5}\n');
      await waitForValues(
        "datasensor_reading",
        "1.id=1 1.t=21.5 2.id=2 2.t=-3.5",
      );
      await waitForValues("datasensor_reading", "1.id=1 1.t=21.5");
      const scrape = readersPage.line("version=0.0.4");
      await machine.typeUntil(
        scrape,
        /^datasensor_build_info\{version=".*"\} 1$/m,
      );
    } finally {
      clearInterval(near);
    }
    await waitForValues("up", "0");
    await waitForValues("datasensor_reading", "");
    await service.write('{"id":2,"t":-4}\n');
    await waitForValues("up", "1");
    await service.stop();
    await waitForValues("up", "0");
  },
);

/**
 * Series, every 10 s. After 100 s, a board is off; of two sensors, one dies, and of the other
 * a number; a clock stops, and one is fast, by 3 h until 1200 s. A scrape fails at 210 s.
 */
const SERIES = `
up{instance="off"} 1x10 0x200
up{instance="on"} 1x20 0 1x200
datasensor_reading{instance="off",sensor="a",key="t"} 7x10 stale
datasensor_reading{instance="on"} 7x10 stale
datasensor_reading{instance="on",sensor="a",key="t"} 7x10 stale
datasensor_reading{instance="on",sensor="a",key="h"} 7x10 stale
datasensor_reading{instance="on",sensor="b",key="t"} 7x10 stale
datasensor_reading{instance="on",sensor="b",key="h"} 7x20 stale 7x200
datasensor_reading{instance="one"} 7x10 stale
datasensor_reading_timestamp_seconds{instance="off",sensor="a"} 0x10 stale
datasensor_reading_timestamp_seconds{instance="on"} 0x10 stale
datasensor_reading_timestamp_seconds{instance="on",sensor="a"} 0x10 stale
datasensor_reading_timestamp_seconds{instance="on",sensor="b"} -9300x20 stale -9300x200
datasensor_reading_timestamp_seconds{instance="one"} 0x200
datasensor_reading_timestamp_seconds{instance="fast"} 12000x200`
  .trim().split("\n").map((line) => {
    const [series, values] = line.split("} ");
    return { series: `${series},job="datasensor"}`, values };
  });

/** The alerts, and from which second on, each with its labels. */
const ALERTS: [name: string, second: number, alerts: Alert[]][] = [
  ["NoReading", 140, [["off has no current reading", { instance: "off" }]]],
  ["SensorMissing", 410, [
    ["on no longer sends readings of a", { instance: "on", sensor: "a" }],
  ]],
  ["NumberMissing", 410, [
    ["on no longer sends t of b", { instance: "on", sensor: "b", key: "t" }],
    ["one no longer sends a number", { instance: "one" }],
  ]],
  ["OldReading", 30, [
    ["The reading of fast is old, or a clock is wrong", { instance: "fast" }],
  ]],
  ["OldReading", 1540, [
    ["The reading of b at on is old, or a clock is wrong", {
      instance: "on",
      sensor: "b",
    }],
  ]],
];

type Alert = [says: string, labels: Record<string, string>];

Deno.test(
  skipIf(
    missingMachine("promtool"),
    "datasensor_rules.yml alerts, for this job only",
  ),
  async () => {
    await using machine = await Machine.start();
    const tests = {
      "rule_files": [await Deno.realPath("src/readers/datasensor_rules.yml")],
      "evaluation_interval": "10s",
      tests: [{
        interval: "10s",
        "input_series": [
          ...SERIES,
          { series: 'up{instance="off",job="node"}', values: "0x200" },
        ],
        "alert_rule_test": ALERTS.flatMap(([name, second, alerts]) => {
          const at = (time: number, alerts: Alert[]) => ({
            "eval_time": `${time}s`,
            alertname: `Datasensor${name}`,
            "exp_alerts": alerts.map(([summary, labels]) => ({
              "exp_labels": {
                job: "datasensor",
                severity: "warning",
                ...labels,
              },
              "exp_annotations": { summary },
            })),
          });
          return [at(second - 20, []), at(second, alerts)];
        }),
      }],
    };
    const file = `${machine.folder.path}/tests.yml`;
    const write = `cat >${file} <<'END'\n${JSON.stringify(tests)}\nEND`; // YAML too
    const { code, stdout, stderr } = await machine.type(
      `${write}\npromtool test rules ${file}`,
    );
    assertEquals(code, 0, stdout + stderr);
  },
);
