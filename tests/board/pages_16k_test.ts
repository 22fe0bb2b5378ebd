// A Raspberry Pi 5 with Raspberry Pi OS, which switches the memory controller
// off.

import { followGuide } from "./follow_guide.ts";

followGuide("with Debian 13, pages of 16 KB and no memory controller", {
  release: "trixie",
  cpu: "cortex-a76",
  pages: "16 KB",
  memoryController: false,
  skips: /^an invalid flag stops the service|--host stops|systemctl disable/,
});
