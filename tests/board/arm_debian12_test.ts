// The most common kind of board, such as a Raspberry Pi 4.

import { emulator } from "./emulator.ts";
import { followOnEmulator } from "./follow_guide.ts";
import { missingBoard } from "./prepare.ts";
import { needs } from "../helpers/needs.ts";

Deno.test({
  ...needs({ missing: [await missingBoard("arm")] }),
  name: "an ARM board with Debian 12, pages of 4 KB and the memory controller",
  fn: (test) =>
    followOnEmulator(
      test,
      emulator({
        release: "bookworm",
        cpu: "cortex-a72",
        memoryMb: 2048,
        pages: 4,
        has: [
          "a memory controller",
          "a kernel of its own",
          "BPF",
        ],
      }),
    ),
});
