// Prometheus reads boards, and alerts when one has no reading.

import { assertEquals } from "@std/assert";
import { fill } from "./examples.ts";
import { CONFIG, Prometheus } from "./prometheus.ts";
import { HEARD, KEYS } from "./radio.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

/** A board whose sensor prints lines every 0.1 s, until it is told others. */
class Board implements AsyncDisposable {
  lines: string[];
  readonly #timer = setInterval(() => this.#print(), 100);

  /** Starts it, perhaps with a program between the sensor and the service. */
  static async start(
    lines: string[],
    flags: string[] = [],
    filter?: string,
  ): Promise<Board> {
    const wrap = filter ? ["sh", "-c", `${filter} | exec "$@"`, "sh"] : [];
    const options = { wrap, hasInput: true, killGroup: filter !== undefined };
    const program = await Program.start(["--stdin", ...flags], options);
    return new Board(program, lines);
  }

  private constructor(readonly program: Program, lines: string[]) {
    this.lines = lines;
  }

  async #print(): Promise<void> {
    const text = this.lines.map((line) => `${line}\n`).join("");
    await this.program.write(text).catch(() => {}); // it is stopping
  }

  get host(): string {
    return `127.0.0.1:${this.program.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.program[Symbol.asyncDispose]();
  }
}

const LATEST = "src/board/package/usr/lib/datasensor/latest 2 model channel id";
const [NEAR, FAR] = HEARD.split("\n") as [string, string];

Deno.test(
  "Prometheus records the readings of two boards, and alerts while one has no reading or is gone",
  needs({ commands: ["prometheus", "promtool", "jq"] }),
  async () => {
    await using room = await Board.start(["21.5"], ["--max-age", "1"]);
    await using radio = await Board.start([NEAR, FAR], ["--json"], LATEST);
    const config = fill(CONFIG, {
      '"BOARD:5000"': `"${room.host}", "${radio.host}"`,
    });
    // One scrape may last longer than its time-out of 0.5 s: that is no alert
    const rules = { "for: 30s": "for: 3s" };
    await using prometheus = await Prometheus.start(config, { rules });
    const readings = `datasensor_reading{instance="${room.host}"}`;
    const alerts = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const waitForAlerts = (...expected: string[]) =>
      prometheus.waitFor(alerts, expected, ({ alertname }) => alertname!);

    await prometheus.waitFor(readings, [21.5]);
    const temperatures = KEYS.slice(0, 2).map((it) => `${it}.temperature_C`);
    const both = `datasensor_reading{key=~"${temperatures.join("|")}"}`;
    await prometheus.waitFor(both, [21.6, -3.5]);

    room.lines = [];
    await waitForAlerts("DatasensorNoReading");
    await prometheus.waitFor(readings, []);
    room.lines = ["22"];
    await waitForAlerts();
    await prometheus.waitFor(readings, [22]);
    await room.program.stop();
    await waitForAlerts("DatasensorNoReading");
    await prometheus.waitFor(readings, []);

    radio.lines = [NEAR];
    await prometheus.waitFor(both, [21.6]);

    // The page where it shows graphs and alerts
    const page = await prometheus.fetch("/");
    assertEquals(page.status, 200);
    await page.body?.cancel();
  },
);

Deno.test(
  "Prometheus accepts what the service exports",
  needs({ commands: ["promtool", "curl"] }),
  async () => {
    const options = { hasInput: true };
    await using program = await Program.start(["--stdin", "--json"], options);
    const reading = String
      .raw`{"a\"\\\n\r\u0000\ud800":1,"":2,"a.b":3,"a":{"b":4},"é":1e999}`;
    await program.write(`${reading}\n`);
    await program.waitForAnswer(reading);
    const script =
      `curl -fsS -H "accept: text/plain;version=0.0.4" ${program.url} | promtool check metrics`;
    const { code, stdout, stderr } = await output("sh", ["-c", script]);
    assertEquals([code, stdout + stderr], [0, ""]);
  },
);

/** Whether an alert fires at a time, in s, and if so for what, and what it says. */
const ALERTS: [
  second: number,
  name: string,
  labels?: Record<string, string>,
  says?: string,
][] = [
  [129, "NoReading"],
  [130, "NoReading", { instance: "a" }, "a has no current reading"],
  [200, "NoReading"],
  [999, "NumberMissing"],
  [
    1000,
    "NumberMissing",
    { job: "datasensor-nginx", instance: "c", key: "b.t" },
    "c no longer sends b.t",
  ],
  [
    4289,
    "NumberMissing",
    { job: "datasensor-nginx", instance: "c", key: "b.t" },
    "c no longer sends b.t",
  ],
  [4291, "NumberMissing"],
  [10890, "OldReading"],
  [
    10891,
    "OldReading",
    { instance: "b" },
    "The reading of b is old, or a clock is wrong",
  ],
];

/**
 * The board a has no reading from 100 to 200 s, the last reading of b came at 60 s, and c
 * loses a number at 700 s, and some scrapes. d is off from 300 s on. Another job always fails.
 */
const SERIES: [series: string, values: string][] = [
  ['up{job="datasensor", instance="a"}', "1x9 0x9 1x1200"],
  ['up{job="datasensor-nginx", instance="c"}', "1x14 0 ".repeat(75)],
  ['up{job="datasensor", instance="d"}', "1x29 0x1200"],
  ['datasensor_reading{job="datasensor", instance="d"}', "7x29 stale"],
  ['up{job="node", instance="a"}', "0x1200"],
  [
    'datasensor_reading_timestamp_seconds{job="datasensor", instance="b"}',
    "60x1200",
  ],
  [
    'datasensor_reading{job="datasensor-nginx", instance="c", key="a.t"}',
    "7x1200",
  ],
  [
    'datasensor_reading{job="datasensor-nginx", instance="c", key="b.t"}',
    "7x69 stale",
  ],
  [
    'datasensor_reading{job="datasensor", instance="a", key="t"}',
    "7x9 _x10 7x1200",
  ],
];

Deno.test(
  "datasensor_rules.yml alerts in time, for this job only",
  needs({ commands: ["promtool"] }),
  async () => {
    using folder = await Folder.create();
    const rules = await Deno.realPath(
      "src/readers/datasensor_rules.yml",
    );
    const tests = {
      "rule_files": [rules],
      "evaluation_interval": "1s",
      tests: [{
        interval: "10s",
        input_series: SERIES.map(([series, values]) => ({ series, values })),
        alert_rule_test: ALERTS.map(([second, name, labels, summary]) => ({
          eval_time: `${second}s`,
          alertname: `Datasensor${name}`,
          exp_alerts: labels
            ? [{
              exp_labels: { job: "datasensor", severity: "warning", ...labels },
              exp_annotations: { summary },
            }]
            : [],
        })),
      }],
    };
    const file = `${folder.path}/tests.yml`;
    await Deno.writeTextFile(file, JSON.stringify(tests)); // YAML too
    const args = ["test", "rules", file];
    const { code, stdout, stderr } = await output("promtool", args);
    assertEquals(code, 0, stdout + stderr);
  },
);
