// The page's lines for Home Assistant, evaluated as it does. Its code is in no package
// that CI can install.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { output } from "../helpers/process.ts";
import { missing, skipIf } from "../helpers/skip.ts";

/** Prints what each sensor of some lines shows for a body, for each of several cases. */
const EVALUATE = `
import json, sys, jinja2.sandbox, yaml
# What is undefined would be a line in Home Assistant's log: here it is an error
jinja = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
def show(sensor, body):
    values = {"value_json": json.loads(body)} if body else {}
    render = lambda name: jinja.from_string(sensor[name]).render(values)
    return render("value_template") if render("availability") == "True" else "-"
def show_all(lines, body, *_):
    [block] = yaml.safe_load(lines)["rest"]
    return [show(sensor, body) for sensor in block["sensor"] + block["binary_sensor"]]
print(json.dumps([show_all(*case) for case in json.loads(sys.argv[1])]))
`;

const LINES = readersPage.block("scan_interval");
const TEXT = LINES.replace("is number }}", "is string }}");

/** Returns the lines with another key. */
const withKey = (key: string) => LINES.replaceAll("temperature_C", key);

const NONE = ["-", "-", "-"];
const OBJECT = '{"temperature_C":21.5,"door":true}';
const STALE =
  '{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"x"}';

/** What the sensors show: a number, the keys temperature_C and door. */
const CASES: [lines: string, body: string, shown: string[]][] = [
  [LINES, "-21.5", ["-21.5", "-", "-"]],
  [LINES, OBJECT, ["-", "21.5", "True"]],
  [LINES, '{"temperature_C":"21.5","door":1}', NONE],
  [LINES, '"Sensor data"', NONE],
  [LINES, STALE, NONE],
  [LINES, "", NONE], // the service is down
  [TEXT, '"21.5"', ["21.5", "-", "-"]],
  [withKey("28-0000075a1b2c"), '{"28-0000075a1b2c":3}', ["-", "3", "-"]],
  [withKey("pm2.5"), '{"pm2.5":3}', ["-", "3", "-"]],
  [withKey("out-temp"), '{"out-temp":3}', ["-", "3", "-"]],
  [withKey("values"), '{"values":3}', ["-", "3", "-"]],
  [withKey("items"), '{"items":3}', ["-", "3", "-"]],
  [withKey("items"), "{}", NONE],
];

const modules = ["jinja2", "yaml"].map((name) =>
  `/usr/lib/python3/dist-packages/${name}/__init__.py`
);

Deno.test(
  skipIf(
    missing("python3", ...modules),
    "the lines for Home Assistant show what a reading has, and nothing of what is none",
  ),
  async () => {
    const args = ["-c", EVALUATE, JSON.stringify(CASES)];
    // Debian's, which has its modules
    const { stdout, stderr } = await output("/usr/bin/python3", args);
    const all: string[][] = JSON.parse(stdout || `"${stderr}"`);
    const shown = CASES.map((
      [lines, body],
      index,
    ) => [lines, body, all[index]]);
    assertEquals(shown, CASES);
  },
);
