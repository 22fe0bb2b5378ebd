// What the package's systemd units set. tests/board runs them.

import { assertEquals } from "@std/assert";
import { Machine, testOnMachine } from "../helpers/machine.ts";

const testUnits = await testOnMachine("systemd-analyze");

testUnits("the units are valid", async () => {
  await using machine = await Machine.start({ "/usr/bin/datasensor": "" });
  const units = "datasensor.service datasensor-sensor.service";
  const { code, stdout, stderr } = await machine.type(
    `systemd-analyze verify --man=no ${units}`,
  );
  assertEquals([code, stdout, stderr], [0, "", ""]);
});

/** Filters as users write them, and what they make of lines with 1. */
const FILTERS = {
  "sed s/1/12/ | cut -c 2 | tr 2 7 | jq -c .+1 | grep -v 9": 8,
  "awk -W interactive '{ print $1 }'": 1,
  "python3 -c 'import sys\nfor line in sys.stdin: print(int(line) + 3)'": 4,
};

const testFilters = await testOnMachine("jq", "python3");

testFilters(
  "a sensor's lines arrive at once through filters",
  async () => {
    await using machine = await Machine.start();
    for (const [filter, printed] of Object.entries(FILTERS)) {
      const loop = "while echo 1; do sleep 0.2; done";
      await using sensor = machine.startSensor(`${loop} | ${filter}`);
      await sensor.waitForMatch(RegExp(`^${printed}\n`), 5000);
    }
  },
);
