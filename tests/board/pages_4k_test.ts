// The most common kind of board, such as a Raspberry Pi 4.

import { followGuide } from "./follow_guide.ts";

followGuide("with pages of 4 KB and the memory controller", {
  cpu: "cortex-a72",
  pages: "4k",
  memoryController: true,
});
