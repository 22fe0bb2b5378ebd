// The page's lines for Home Assistant, evaluated as it does. Its code is in no package
// that CI can install.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { output } from "../helpers/process.ts";
import { missing, skipIf } from "../helpers/skip.ts";

/** Prints what each sensor of some lines shows for each body. */
const EVALUATE = `
import json, sys, jinja2, yaml
lines, *bodies = sys.argv[1:]
[block] = yaml.safe_load(lines)["rest"]
def show(sensor, body):
    values = {"value_json": json.loads(body)} if body else {}
    render = lambda name: jinja2.Template(sensor[name]).render(values)
    return render("value_template") if render("availability") == "True" else "-"
sensors = block["sensor"] + block["binary_sensor"]
print(json.dumps([[show(sensor, body) for sensor in sensors] for body in bodies]))
`;

const LINES = readersPage.block("scan_interval");
const RADIO = readersPage.block("value_json.get(").trim();

/** Bodies, and what the sensors show: a number, the keys temperature_C, time and door. */
const CASES: [what: string, body: string, shown: string[], lines?: string][] = [
  ["a number", "-21.5", ["-21.5", "-", "-", "-"]],
  [
    "a text",
    '"21.5"',
    ["21.5", "-", "-", "-"],
    LINES.replace("is number }}", "is string }}"),
  ],
  [
    "an object",
    '{"temperature_C":21.5,"time":"2026-11-20T17:14:56Z","door":true}',
    ["-", "21.5", "2026-11-20T17:14:56Z", "True"],
  ],
  [
    "a radio sensor",
    '{"Nexus-TH 1 42":{"temperature_C":-3.5}}',
    ["-", "-3.5", "-", "-"],
    LINES.replaceAll("value_json.", RADIO),
  ],
  ["a stale reading", '{"status":503,"detail":"x"}', ["-", "-", "-", "-"]],
  ["a service that is down", "", ["-", "-", "-", "-"]],
];

const modules = ["jinja2", "yaml"].map((name) =>
  `/usr/lib/python3/dist-packages/${name}/__init__.py`
);

for (const [what, body, shown, lines = LINES] of CASES) {
  Deno.test(
    skipIf(
      missing("python3", ...modules),
      `the lines for Home Assistant show ${what}`,
    ),
    async () => {
      const args = ["-c", EVALUATE, lines, body];
      // Debian's, which has its modules
      const { stdout, stderr } = await output("/usr/bin/python3", args);
      assertEquals(JSON.parse(stdout || `"${stderr}"`), [shown]);
    },
  );
}
