// A Raspberry Pi 5 with Raspberry Pi OS, which switches the memory controller off.

import { emulator } from "./emulator.ts";
import { followOnEmulator } from "./follow_guide.ts";
import { missingBoard } from "./prepare.ts";
import { needs } from "../helpers/needs.ts";

Deno.test({
  ...needs({ missing: [await missingBoard("arm")] }),
  name: "an ARM board with Debian 13, pages of 16 KB and no memory controller",
  fn: (test) =>
    followOnEmulator(
      test,
      emulator({
        release: "trixie",
        cpu: "cortex-a76",
        memoryMb: 2048,
        pages: 16,
        has: [
          "memory pages of 16 KB",
          "a clock that may be set",
          "a device",
          "a power switch",
        ],
      }),
    ),
});
