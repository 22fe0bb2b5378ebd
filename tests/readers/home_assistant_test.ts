// The page's lines for Home Assistant, evaluated as it does. Its code is in no package
// that CI can install.

import { assertEquals } from "@std/assert";
import { fill, type Values } from "./examples.ts";
import { KEYS } from "./radio.ts";
import { readersPage } from "../helpers/guide.ts";
import { missingPythonModule, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";

/** Prints what each sensor shows for each body, and the settings around the sensors. */
const EVALUATE = `
import json, sys, jinja2, yaml
text, *bodies = sys.argv[1:]
settings = yaml.safe_load(text)
[block] = settings["rest"] if "rest" in settings else [settings["mqtt"]]
def show(sensor, body):
    values = {"value_json": json.loads(body)} if body else {}
    render = lambda name: jinja2.Template(sensor[name]).render(values)
    isAvailable = "availability" not in sensor or render("availability") == "True"
    return render("value_template") if isAvailable else "unavailable"
shown = [[show(sensor, body) for sensor in block["sensor"]] for body in bodies]
print(json.dumps([shown, block]))
`;

const NEEDED = needs({
  missing: [
    missingPythonModule("jinja2", "python3-jinja2"),
    missingPythonModule("yaml", "python3-yaml"),
  ],
});

/** Returns what the sensors of lines show for each body, and the lines' settings. */
async function evaluate(
  lines: string,
  ...bodies: string[]
): Promise<[shown: string[][], block: Record<string, unknown>]> {
  const args = ["-c", EVALUATE, lines, ...bodies];
  const { stdout, stderr } = await output("python3", args);
  return JSON.parse(stdout || stderr);
}

const REST = readersPage.block("scan_interval");
const RADIO = readersPage.block("value_json.get(").trim();
const NONE = ["unavailable", "unavailable"];

/** Lines, and what the sensors for a number and for a key of an object show. */
const CASES: [what: string, values: Values, body: string, shown: string[]][] = [
  ["a number", {}, "-21.5", ["-21.5", "unavailable"]],
  ["a text", { "is number }}": "is string }}" }, '"21.5"', ["21.5", NONE[1]!]],
  ["an object", {}, '{"t":21.5,"h":40}', ["unavailable", "21.5"]],
  [
    "a radio sensor",
    { "value_json.t": RADIO },
    `{"${KEYS[0]}":{"temperature_C":-3.5}}`,
    ["unavailable", "-3.5"],
  ],
];

for (const [what, values, body, expected] of CASES) {
  Deno.test(
    `the lines for Home Assistant show ${what}, and nothing without a reading`,
    NEEDED,
    async () => {
      const stale = '{"status":503,"detail":"The sensor has sent no reading"}';
      const down = "";
      const [shown] = await evaluate(fill(REST, values), body, stale, down);
      assertEquals(shown, [expected, NONE, NONE]);
    },
  );
}

Deno.test(
  "the lines for Home Assistant over MQTT show a message until it expires",
  NEEDED,
  async () => {
    const lines = readersPage.block("expire_after");
    const [shown, { sensor }] = await evaluate(lines, "21.5", '"21.5"');
    assertEquals(shown, [["21.5"], ["21.5"]]);
    const [{ state_topic, expire_after }] = sensor as [Record<string, unknown>];
    assertEquals([state_topic, expire_after], ["BOARD/datasensor", 30]);
  },
);

Deno.test(
  "the lines for Home Assistant behind nginx fit after resource",
  NEEDED,
  async () => {
    const credentials = readersPage.block("verify_ssl").trim();
    const indented = credentials.replace(/^/gm, "    ");
    const lines = REST.replace(/^.* resource: .*$/m, `$&\n${indented}`);
    const [, block] = await evaluate(lines);
    const { resource, username, password, verify_ssl } = block;
    assertEquals([resource, username, password, verify_ssl], [
      "http://BOARD:5000/datasensor",
      "reader",
      "PASSWORD",
      false,
    ]);
  },
);
