// The systemd units of the package: whether they are valid, and their exposure.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";

testUnless(
  await missingCommand("systemd-analyze"),
  "the package's systemd units are valid and hardened",
  async () => {
    using folder = await Folder.create();
    const script = `
      cp .board/package/usr/lib/systemd/system/* "$0"
      cd "$0"
      # systemd checks that the program exists
      sed -i "s|/usr/bin/datasensor |/bin/true |" datasensor.service
      systemd-analyze verify --man=no ./datasensor*
      check() { systemd-analyze security --offline=true --no-pager "$@"; }
      check --threshold=15 ./datasensor.service
      check --threshold=35 ./datasensor-sensor.service`;
    const args = ["-ec", script, folder.path];
    const { code, stdout, stderr } = await output("sh", args);
    assertEquals([code, stderr], [0, ""], stdout);
  },
);
