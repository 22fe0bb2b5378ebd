// The labels of numbers. The walk of a reading is tested where it is used: by the history, the
// metrics and the page.

import { assert, assertEquals } from "@std/assert";
import { formatLabel } from "../../../src/sensor/walk.js";
import { testProperty } from "../../helpers/random.ts";

const PARTS = [
  ...";\t\r\n: %23590ABD",
  "%25",
  "%253B",
  "%3B",
  "%3A ",
  "%3",
  ": ",
  "A ",
];

testProperty(
  "formatLabel() gives no two numbers one label, and splits none",
  50,
  (random) => {
    const pick = () =>
      Array.from({ length: random.below(5) }, () => random.pick(PARTS)).join(
        "",
      );
    const numbers = new Map<string, string>(); // by label
    for (let count = 0; count < 1000; count++) {
      const [name, key] = [pick() || "a", pick()];
      const label = formatLabel(name, key);
      const number = JSON.stringify([name, key]);
      assertEquals(numbers.get(label) ?? number, number, label);
      numbers.set(label, number);
      assert(!/[;\t\r\n]/.test(label), label);
    }
  },
);
