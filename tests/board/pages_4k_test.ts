// The most common kind of board, such as a Raspberry Pi 4.

import { followGuide } from "./follow_guide.ts";

followGuide("with Debian 12, pages of 4 KB and the memory controller", {
  release: "bookworm",
  cpu: "cortex-a72",
  pages: "4 KB",
  memoryController: true,
  skips: /cannot run$|port is free$|--host 127|without apt/,
});
