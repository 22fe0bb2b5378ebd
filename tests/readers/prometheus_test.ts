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
    "Prometheus records the readings of each sensor, and which is silent",
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
        sed 's/.*key="\\(.*\\)", sensor="\\(.*\\)".* => \\(\\S*\\) @.*/\\2.\\1=\\3/
          s/.*sensor="\\(.*\\)".* => \\(\\S*\\) @.*/\\1=\\2/; s/.*{.*job="datasensor"} => \\(\\S*\\) @.*/\\1/' |
        sort | paste -sd ' '`;
      await machine.typeUntil(ask, RegExp(`^${expected}\n\\[0\\]$`));
    };
    await waitForValues("up", "0"); // no sensor so far
    const [near, far] = ['{"id":1,"t":21.5}', '{"id":2,"t":-3.5}']
      .map((line) => setInterval(() => service.write(`${line}\n`), 100));
    try {
      await waitForValues(
        "datasensor_reading",
        "1.id=1 1.t=21.5 2.id=2 2.t=-3.5",
      );
      // It is then known for as long
      const isServed = 'sum_over_time(datasensor_up{sensor="2"}[1m]) > bool 8';
      await waitForValues(isServed, "2=1");
      clearInterval(far);
      await waitForValues("datasensor_up", "1=1 2=0");
      await waitForValues("datasensor_reading", "1.id=1 1.t=21.5");
      await machine.typeUntil(
        readersPage.line("/metrics"),
        /^datasensor_build_info\{version=".*"\} 1$/m,
      );
    } finally {
      clearInterval(near);
      clearInterval(far);
    }
    await service.stop();
    await waitForValues("up", "0");
  },
);

/**
 * Four hours of samples, every 10 s. After 100 s, a board is off; of the sensors "a" and "b"
 * of two boards, one dies, or both; of "b", a number; with `--max-age none`, a sensor; and
 * the number of a board without `--key`. Two scrapes fail, at 210 and 220 s. The fast clock
 * is wrong by 12,000 s. The sensor that flaps is silent for four minutes of each ten.
 */
const SERIES = `
up{instance="off"} 1x10 0x1429
up{instance="one"} 1x20 0x1 1x1417
datasensor_up{instance="one",sensor="a"} 1x10 0x9 stale _ 0x1417
datasensor_up{instance="one",sensor="b"} 1x20 stale _ 1x1417
datasensor_up{instance="both",sensor="a"} 1x10 0x1429
datasensor_up{instance="both",sensor="b"} 1x10 0x1429
datasensor_up{instance="none",sensor="a"} 1x1440
datasensor_up{instance="flap",sensor="a"} ${"1x35 0x23 ".repeat(24)}
datasensor_reading{instance="off",sensor="a",key="t"} 7x10 stale
datasensor_reading{instance="one",sensor="a",key="t"} 7x10 stale
datasensor_reading{instance="one",sensor="b",key="t"} 7x10 stale
datasensor_reading{instance="one",sensor="b",key="h"} 7x20 stale _ 7x1417
datasensor_reading{instance="both",sensor="a",key="t"} 7x10 stale
datasensor_reading{instance="both",sensor="b",key="t"} 7x10 stale
datasensor_reading{instance="none",sensor="a",key="t"} 7x1440
datasensor_reading{instance="flap",sensor="a",key="t"} ${
  "7x35 stale _x23 ".repeat(24)
}
datasensor_reading{instance="only"} 7x10 stale
datasensor_reading_timestamp_seconds{instance="off",sensor="a"} 0+10x10 stale
datasensor_reading_timestamp_seconds{instance="one",sensor="a"} 0x20 stale _ 0x1417
datasensor_reading_timestamp_seconds{instance="one",sensor="b"} 0+10x20 stale _ 230+10x1417
datasensor_reading_timestamp_seconds{instance="both",sensor="a"} 0x1440
datasensor_reading_timestamp_seconds{instance="both",sensor="b"} 0x1440
datasensor_reading_timestamp_seconds{instance="none",sensor="a"} 0x1440
datasensor_reading_timestamp_seconds{instance="flap",sensor="a"} 0+10x1440
datasensor_reading_timestamp_seconds{instance="only"} 0+10x1440
datasensor_reading_timestamp_seconds{instance="fast"} 12000+10x1440`;

/** Returns samples for each day of a month, whose first second is given. */
const daily = (createDay: (second: number) => string) =>
  Array.from({ length: 30 }, (_, day) => createDay(86_400 * day)).join(" ");

/**
 * A month of samples, every minute: a car passes each morning. It is heard for two minutes,
 * served for five more, and then known to be silent for two.
 */
const CAR = `
datasensor_up{instance="road",sensor="car"} ${
  daily(() => "1x6 0x1 stale _x1430")
}
datasensor_reading{instance="road",sensor="car"} ${
  daily(() => "7x6 stale _x1432")
}
datasensor_reading_timestamp_seconds{instance="road",sensor="car"} ${
  daily((second) => `${second}x8 stale _x1430`)
}`;

/** Turns lines into series of the job. */
const toSeries = (lines: string) =>
  lines.trim().split("\n").map((line) => {
    const [series, values] = line.split("} ");
    return { series: `${series},job="datasensor"}`, values };
  });

const END = 14_400;

/** The alerts that fire, with their labels, and from and to which second they do. */
const ALERTS: [
  name: string,
  labels: Record<string, string>,
  summary: string,
  from: number,
  to: number,
][] = [
  ["NoReading", { instance: "off" }, "off has no current reading", 140, END],
  [
    "SensorSilent",
    { instance: "one", sensor: "a" },
    "a at one is silent",
    530, // the scrapes that failed have started it again
    END,
  ],
  [
    "SensorSilent",
    { instance: "both", sensor: "a" },
    "a at both is silent",
    410,
    END,
  ],
  [
    "SensorSilent",
    { instance: "both", sensor: "b" },
    "b at both is silent",
    410,
    END,
  ],
  [
    "NumberMissing",
    { instance: "one", sensor: "b", key: "t" },
    "one no longer sends t of b",
    410,
    3700,
  ],
  [
    "NumberMissing",
    { instance: "only" },
    "only no longer sends a number",
    410,
    3700,
  ],
  [
    "OldReading",
    { instance: "fast" },
    "The reading of fast is old, or a clock is wrong",
    30,
    END,
  ],
  [
    "OldReading",
    { instance: "none", sensor: "a" },
    "The reading of a at none is old, or a clock is wrong",
    10_840,
    END,
  ],
];

/** What promtool expects right before, when, and right after one begins or ends. */
const EXPECTED = ALERTS
  .flatMap(([, , , from, to]) => [from - 10, from, to, to + 10])
  .filter((second) => second <= END)
  .flatMap((second) =>
    [...new Set(ALERTS.map(([name]) => name))].map((name) => ({
      "eval_time": `${second}s`,
      alertname: `Datasensor${name}`,
      "exp_alerts": ALERTS.filter(([it, , , from, to]) =>
        it === name && from <= second && second <= to
      ).map(([, labels, summary]) => ({
        "exp_labels": { job: "datasensor", severity: "warning", ...labels },
        "exp_annotations": { summary },
      })),
    }))
  );

/** Expects that no alert of a board has fired until a time. */
const expectNone = (instance: string, time: string) => ({
  expr: `count_over_time(
    ALERTS{instance="${instance}",alertstate="firing"}[${time}])`,
  "eval_time": time,
});

Deno.test(
  skipIf(
    missingMachine("promtool"),
    "datasensor_rules.yml alerts, for this job only",
  ),
  async () => {
    await using machine = await Machine.start();
    const node = { series: 'up{instance="off",job="node"}', values: "0x1440" };
    const hours = {
      interval: "10s",
      "input_series": [...toSeries(SERIES), node],
      "alert_rule_test": EXPECTED,
      "promql_expr_test": [expectNone("flap", "4h")],
    };
    const month = {
      interval: "1m",
      "input_series": toSeries(CAR),
      "promql_expr_test": [expectNone("road", "30d")],
    };
    const rules = await Deno.realPath("src/readers/datasensor_rules.yml");
    for (const test of [hours, month]) {
      const tests = {
        "rule_files": [rules],
        "evaluation_interval": test.interval,
        tests: [test],
      };
      const { code, stdout, stderr } = await machine.type(
        `promtool test rules /dev/stdin <<'END'\n${JSON.stringify(tests)}\nEND`,
      );
      assertEquals(code, 0, stdout + stderr);
    }
  },
);
