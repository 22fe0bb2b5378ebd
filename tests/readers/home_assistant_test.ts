// The page's lines for Home Assistant, evaluated as it does. Its code is in no package
// that CI can install.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { output } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";

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
    return [lines, body] + [show(it, body) for it in block["sensor"] + block["binary_sensor"]]
print(json.dumps([show_all(*case) for case in json.loads(sys.argv[1])]))
`;

const LINES = block("src/readers/README.md", "scan_interval");
const TEXT = LINES.replace("is number }}", "is string }}");
const ITEMS = LINES.replaceAll("temperature_C", "items"); // a method of dictionaries
const STALE =
  '{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"x"}';

/** The lines, a body, and what the sensors show: a number, a key, and the key door. */
const CASES = [
  [LINES, "-21.5", "-21.5", "-", "-"],
  [LINES, '{"temperature_C":21.5,"door":true}', "-", "21.5", "True"],
  [LINES, '{"temperature_C":"21.5","door":1}', "-", "-", "-"],
  [LINES, '"Sensor data"', "-", "-", "-"],
  [LINES, STALE, "-", "-", "-"],
  [LINES, "", "-", "-", "-"], // the service is down
  [TEXT, '"21.5"', "21.5", "-", "-"],
  [ITEMS, '{"items":3}', "-", "3", "-"],
  [ITEMS, "{}", "-", "-", "-"],
];

const modules = ["jinja2", "yaml"].map((name) =>
  `/usr/lib/python3/dist-packages/${name}/__init__.py`
);

const test = testWith("python3", ...modules);

test("the lines for Home Assistant show what a reading has, and nothing of what is none", async () => {
  const args = ["-c", EVALUATE, JSON.stringify(CASES)];
  // Debian's, which has its modules
  const { stdout, stderr } = await output("/usr/bin/python3", args);
  assertEquals(JSON.parse(stdout || JSON.stringify(stderr)), CASES);
});
