// The systemd units of the board: whether they are valid, and their exposure.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";

testUnless(
  await missingCommand("systemd-analyze"),
  "the board's systemd units are valid, and the service is hardened",
  async () => {
    using folder = await Folder.create();
    const script = `
      check() {
        systemd-analyze verify "$@"
        systemd-analyze security --offline=true --threshold=15 --no-pager "$1"
      }
      cp -R .board/systemd/. "$0"
      cd "$0"
      # systemd checks that the program exists
      sed -i "s|/usr/local/bin/datasensor |/bin/true |" datasensor.service
      check ./datasensor.service ./datasensor.socket ./temperature.service
      rm -r datasensor.service.d datasensor.socket temperature.service
      check ./datasensor.service`;
    const args = ["-ec", script, folder.path];
    const { code, stdout, stderr } = await output("sh", args);
    assertEquals([code, stderr], [0, ""], stdout);
  },
);
