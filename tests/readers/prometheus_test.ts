// Prometheus reads boards, and alerts when one has no reading.

import { assertEquals } from "@std/assert";
import { fill } from "./examples.ts";
import { CONFIG, indent, Prometheus, TARGETS } from "./prometheus.ts";
import { HEARD, KEYS } from "./radio.ts";
import { Folder } from "../helpers/files.ts";
import { readersPage } from "../helpers/guide.ts";
import { missingAddress, needs } from "../helpers/needs.ts";
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
  "Prometheus records the readings of boards, and alerts while one is dead, old, unplugged or lacks a sensor",
  needs({ commands: ["prometheus", "promtool", "jq"] }),
  async () => {
    await using room = await Board.start(["21.5"], ["--max-age", "1"]);
    await using attic = await Board.start(["7"]);
    await using radio = await Board.start([NEAR, FAR], ["--json"], LATEST);
    const boards = { room, attic, radio };
    const hosts = Object.values(boards).map(({ host }) => `"${host}"`);
    const config = fill(CONFIG, { '"BOARD:5000"': `${hosts}` });
    const rules = {
      // One scrape may last longer than its time-out of 0.5 s: that is no alert
      "for: 30s": "for: 3s",
      "3 * 3600": "5",
      "for: 5m": "for: 0s",
      'max_over_time(up{job=~"datasensor.*"}[2m])': 'up{job="datasensor"}',
      "[1h]": "[5s]",
    };
    await using prometheus = await Prometheus.start(config, { rules });
    const waitForReadings = (labels: string, values: number[]) =>
      prometheus.waitFor(`datasensor_reading{${labels}}`, values);
    const at = ({ host }: Board) => `instance="${host}"`;
    const fired: string[] = [];
    const waitForAlerts = async (query: string, ...expected: string[]) => {
      await prometheus.waitFor(
        `count by (alertname, instance) (${query})`,
        expected,
        ({ alertname, instance }) => {
          const [name] = Object.entries(boards)
            .find(([, { host }]) => host === instance)!;
          return `${alertname} ${name}`;
        },
      );
      fired.push(...expected);
    };
    const firing = 'ALERTS{alertstate="firing"}';

    await waitForReadings(at(room), [21.5]);
    await waitForReadings(at(attic), [7]);
    const temperatures = KEYS.slice(0, 2).map((it) => `${it}.temperature_C`);
    await waitForReadings(`key=~"${temperatures.join("|")}"`, [21.6, -3.5]);

    room.lines = [];
    await waitForAlerts(firing, "DatasensorNoReading room");
    await waitForReadings(at(room), []);
    room.lines = ["22"];
    await waitForAlerts(firing);
    await waitForReadings(at(room), [22]);

    attic.lines = [];
    await waitForAlerts(firing, "DatasensorOldReading attic");
    await waitForReadings(at(attic), [7]);
    await attic.program.stop();
    await waitForAlerts(firing, "DatasensorNoReading attic");
    await waitForReadings(at(attic), []);

    radio.lines = [NEAR];
    const missing = `${firing.slice(0, -1)},key="${temperatures[1]}"}`;
    await waitForAlerts(missing, "DatasensorNumberMissing radio");
    await waitForReadings(at(radio) + ',key=~".*_C"', [21.6]);
    await waitForAlerts(firing, "DatasensorNoReading attic"); // the other ends
    await waitForAlerts(`last_over_time(${firing}[5m])`, ...new Set(fired));

    // The page where it shows graphs and alerts
    const page = await prometheus.fetch("/");
    assertEquals(page.status, 200);
    await page.body?.cancel();
  },
);

Deno.test(
  "Prometheus reads a list of a hundred boards",
  needs({
    commands: ["prometheus", "promtool"],
    missing: [missingAddress("127.0.0.2")],
  }),
  async () => {
    await using program = await Program.start(["--stdin"], { hasInput: true });
    await program.write("21.5\n");
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
    const boards = numbers.map((number) => `127.0.0.${number}\n`).join("");
    const command = fill(readersPage.block("/etc/prometheus/boards.yml"), {
      ":5000": `:${program.port}`,
      " boards ": " ",
      "sudo tee /etc/prometheus/boards.yml": "cat",
    });
    const script = `printf %s "$0" | ${command}`;
    const { stdout } = await output("sh", ["-ec", script, boards]);
    const list = indent(readersPage.block("file_sd_configs"));
    const config = fill(CONFIG, { [TARGETS]: list });
    const files = { "boards.yml": stdout };
    await using prometheus = await Prometheus.start(config, { files });
    await prometheus.waitFor("sum(up)", [100]);
    await prometheus.waitFor("sum(datasensor_reading)", [2150]);
  },
);

Deno.test(
  "Prometheus accepts what the service exports",
  needs({ commands: ["promtool"] }),
  async () => {
    await using program = await Program.start(["--stdin", "--json"], {
      hasInput: true,
    });
    for (
      const reading of [
        "21.5",
        '"no number"',
        String
          .raw`{"a\"\\\n\r\u0000\ud800":1,"":2,"a.b":3,"a":{"b":4},"é":1e999}`,
      ]
    ) {
      await program.write(`${reading}\n`);
      await program.waitForAnswer(reading);
      const accept = "text/plain;version=0.0.4";
      const script =
        `curl -fsS -H "accept: ${accept}" ${program.url} | promtool check metrics`;
      const checked = await output("sh", ["-c", script]);
      const { code, stdout, stderr } = checked;
      assertEquals([code, stdout + stderr], [0, ""], reading);
    }
  },
);

Deno.test(
  "amtool accepts the page's settings of Alertmanager",
  needs({ commands: ["amtool"] }),
  async () => {
    using folder = await Folder.create();
    const file = `${folder.path}/alertmanager.yml`;
    await Deno.writeTextFile(file, readersPage.block("email_configs"));
    const check = fill(readersPage.line("amtool check-config"), {
      "/etc/prometheus/alertmanager.yml": file,
    });
    const { code, stderr } = await output("sh", ["-ec", check]);
    assertEquals(code, 0, stderr);
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
