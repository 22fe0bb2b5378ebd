// The page's lines for Home Assistant, evaluated as it does. Its code is in no package
// that CI can install.

import { assertEquals } from "@std/assert";
import { fill, type Values } from "./examples.ts";
import { KEYS } from "./radio.ts";
import { readersPage } from "../helpers/guide.ts";
import { missingPythonModule, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";

/** Prints what the only sensor shows for each body, and the settings in it. */
const EVALUATE = `
import json, sys, jinja2, yaml
text, *bodies = sys.argv[1:]
settings = yaml.safe_load(text)
[sensor] = settings.get("sensor") or settings["mqtt"]["sensor"]
def show(body):
    values = {"value_json": json.loads(body)} if body else {}
    render = lambda name: jinja2.Template(sensor[name]).render(values)
    isAvailable = "availability" not in sensor or render("availability") == "True"
    return render("value_template") if isAvailable else "unavailable"
print(json.dumps([[show(body) for body in bodies], sensor]))
`;

const NEEDED = needs({
  missing: [
    missingPythonModule("jinja2", "python3-jinja2"),
    missingPythonModule("yaml", "python3-yaml"),
  ],
});

/** Returns what lines show for bodies, and their settings. */
async function evaluate(
  lines: string,
  ...bodies: string[]
): Promise<[shown: string[], sensor: Record<string, unknown>]> {
  const args = ["-c", EVALUATE, lines, ...bodies];
  const { stdout, stderr } = await output("python3", args);
  return JSON.parse(stdout || stderr);
}

const NUMBER = readersPage.block('"{{ value_json is number }}"');
const OBJECT = readersPage.block("value_json.t }}");
const MQTT = readersPage.block("expire_after");
const RADIO = readersPage.block("value_json.get(").trim();

/** What the service answers without a reading; an empty body if it is down. */
const NONE = ['{"status":503,"detail":"The sensor has sent no reading"}', ""];

const CASES: [
  what: string,
  lines: string,
  values: Values,
  ...[string, string],
][] = [
  ["a number", NUMBER, {}, "-21.5", "-21.5"],
  ["a text", NUMBER, { "is number": "is string" }, '"21.5"', "21.5"],
  ["an object", OBJECT, {}, '{"t":21.5,"h":40}', "21.5"],
  [
    "a radio sensor",
    OBJECT,
    { "value_json.t": RADIO },
    `{"${KEYS[0]}":{"temperature_C":-3.5}}`,
    "-3.5",
  ],
];

for (const [what, lines, values, body, expected] of CASES) {
  Deno.test(
    `the lines for Home Assistant show ${what}, and nothing without a reading`,
    NEEDED,
    async () => {
      const [shown] = await evaluate(fill(lines, values), body, ...NONE);
      assertEquals(shown, [expected, "unavailable", "unavailable"]);
    },
  );
}

Deno.test(
  "the lines for Home Assistant over MQTT show a message until it expires",
  NEEDED,
  async () => {
    const [shown, sensor] = await evaluate(MQTT, "21.5", '"21.5"');
    assertEquals(shown, ["21.5", "21.5"]);
    assertEquals([sensor.state_topic, sensor.expire_after], [
      "BOARD/datasensor",
      30,
    ]);
  },
);

Deno.test(
  "the lines for Home Assistant behind nginx fit after resource",
  NEEDED,
  async () => {
    const credentials = readersPage.block("verify_ssl").trim();
    const indented = credentials.replace(/^/gm, "    ");
    const lines = NUMBER.replace(/^ *resource: .*$/m, `$&\n${indented}`);
    const [, { resource, username, password, verify_ssl }] = await evaluate(
      lines,
    );
    assertEquals([resource, username, password, verify_ssl], [
      "http://BOARD:5000/datasensor",
      "reader",
      "PASSWORD",
      false,
    ]);
  },
);
