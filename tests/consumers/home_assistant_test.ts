// The guide's lines for Home Assistant, evaluated as it does. Its code is in no package
// that CI can install.

import { assertEquals } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { fill } from "./examples.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { missingPythonModule, needs } from "../helpers/needs.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { KEYS } from "./radio.ts";

/** Prints what a sensor shows for the bodies of responses. */
const EVALUATE = `
import json, sys, jinja2, yaml
text, *bodies = sys.argv[1:]
[sensor] = yaml.safe_load(text)["sensor"]
for body in bodies:
    values = {"value_json": json.loads(body)} if body else {}
    render = lambda name: jinja2.Template(sensor[name]).render(values)
    isAvailable = render("availability") == "True"
    print(render("value_template") if isAvailable else "unavailable")
`;

/** The lines for a reading that is a number, and for an object. */
const NUMBER = consumersGuide.block("{{ value_json }}");
const OBJECT = consumersGuide.block("value_json.t }}");

/** What is added behind nginx. */
const CREDENTIALS = consumersGuide.block("verify_ssl");

const CASES: [
  lines: string,
  flags: string[],
  values: Record<string, string>,
  reading: string,
  shown: string,
][] = [
  [NUMBER, ["--json"], {}, "-21.5", "-21.5"],
  [NUMBER, [], { "is number": "is string" }, "21.5", "21.5"],
  [OBJECT, ["--json"], {}, '{"t":21.5,"h":40}', "21.5"],
  [
    OBJECT,
    ["--json"],
    { "value_json.t": consumersGuide.line("Home Assistant: ").slice(16) },
    `{"${KEYS[0]}":{"temperature_C":-3.5}}`,
    "-3.5",
  ],
];

for (const [lines, flags, values, reading, shown] of CASES) {
  Deno.test(
    `the guide's ${
      lines === NUMBER ? "sensor" : "value"
    } for Home Assistant with [${flags}] shows ${shown} of ${reading}, and nothing without a current one`,
    needs({
      missing: [
        missingPythonModule("jinja2", "python3-jinja2"),
        missingPythonModule("yaml", "python3-yaml"),
      ],
    }),
    async () => {
      await using board = await SimulatedBoard.start(...flags);
      const read = async () => await (await get(board.program.url)).text();
      const bodies = [await read()]; // no reading yet
      await board.say(reading);
      bodies.push(await read());
      await board.becomeStale();
      bodies.push(await read(), "");
      const args = ["-c", EVALUATE, fill(lines, values), ...bodies];
      const { stdout, stderr } = await output("python3", args);
      const none = "unavailable";
      assertEquals(stdout, [none, shown, none, none, ""].join("\n"), stderr);
    },
  );
}

Deno.test(
  "the guide's lines for Home Assistant behind nginx fit after resource",
  needs({ missing: [missingPythonModule("yaml", "python3-yaml")] }),
  async () => {
    const indented = CREDENTIALS.replace(/^/gm, "    ").trimEnd();
    const lines = NUMBER.replace(/^ *resource: .*$/m, `$&\n${indented}`);
    const script = "import json, sys, yaml; " +
      "print(json.dumps(yaml.safe_load(sys.argv[1])))";
    const { stdout, stderr } = await output("python3", ["-c", script, lines]);
    const [sensor] = JSON.parse(stdout || stderr).sensor;
    const { resource, username, password, verify_ssl } = sensor;
    assertEquals(
      { resource, username, password, verify_ssl },
      {
        resource: "http://BOARD:5000/datasensor",
        username: "reader",
        password: "PASSWORD",
        verify_ssl: false,
      },
    );
  },
);
