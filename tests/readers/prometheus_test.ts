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
    /** Waits for the values of an expression, by their key. */
    const waitForValues = async (query: string, expected: string) => {
      const ask = `promtool query instant http://localhost:9090 '${query}' |
        sed -n 's/.*key="\\([^"]*\\)".* => \\(\\S*\\) @.*/\\1=\\2/p; s/.*{.*job="datasensor"} => \\(\\S*\\) @.*/\\1/p' |
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

/** Series: at 100 s, a board is off and a number gone; one clock stops, another is fast. */
const SERIES = {
  'up{job="datasensor", instance="off"}': "1x10 0x200",
  'up{job="datasensor", instance="on"}': "1x200",
  'up{job="node", instance="off"}': "0x200",
  'datasensor_reading{job="datasensor", instance="off", key="t"}': "7x10 stale",
  'datasensor_reading{job="datasensor", instance="on", key="t"}': "7x10 stale",
  'datasensor_reading{job="datasensor", instance="on", key="h"}': "7x200",
  'datasensor_reading_timestamp_seconds{job="datasensor", instance="on"}':
    "-9300x200",
  'datasensor_reading_timestamp_seconds{job="datasensor", instance="fast"}':
    "12000x200", // 3 h ahead until 1200 s
};

/** The alerts, and from which second on. */
const ALERTS: [name: string, second: number, instance: string, says: string][] =
  [
    ["NoReading", 140, "off", "off has no current reading"],
    ["NumberMissing", 410, "on", "on no longer sends t"],
    [
      "OldReading",
      30,
      "fast",
      "The reading of fast is old, or a clock is wrong",
    ],
    ["OldReading", 1540, "on", "The reading of on is old, or a clock is wrong"],
  ];

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
        "input_series": Object.entries(SERIES)
          .map(([series, values]) => ({ series, values })),
        "alert_rule_test": ALERTS.flatMap(
          ([name, second, instance, summary]) => {
            const alertname = `Datasensor${name}`;
            const key = name === "NumberMissing" ? { key: "t" } : {};
            const labels = { job: "datasensor", severity: "warning", instance };
            const alert = {
              "exp_labels": { ...labels, ...key },
              "exp_annotations": { summary },
            };
            const at = (time: number, alerts: unknown[]) => ({
              "eval_time": `${time}s`,
              alertname,
              "exp_alerts": alerts,
            });
            return [at(second - 20, []), at(second, [alert])];
          },
        ),
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
