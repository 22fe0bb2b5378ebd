// A Raspberry Pi 5 with Raspberry Pi OS, which switches the memory controller
// off.

import { followGuide } from "./follow_guide.ts";

followGuide("with pages of 16 KB and without the memory controller", {
  cpu: "cortex-a76",
  pages: "16k",
  memoryController: false,
});
