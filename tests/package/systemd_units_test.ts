// The package's systemd units, as systemd's own tools judge them. tests/board runs them.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";

const TREE = "src/board/package";

Deno.test(
  "the package's systemd units are valid and hardened, and it creates their groups",
  needs({ commands: ["systemd-analyze", "systemd-sysusers"] }),
  async () => {
    const script = `cp ${TREE}/usr/lib/systemd/system/* "$0"
      cd "$0"
      # systemd checks that the programs exist
      sed -i "s|/usr/bin/datasensor |/bin/true |;s|/usr/lib/datasensor/.*|/bin/true|" \\
        *.service
      systemd-analyze verify --man=no ./datasensor*
      check() { systemd-analyze security --offline=true --no-pager "$@"; }
      check --threshold=15 ./datasensor.service
      check --threshold=35 ./datasensor-sensor.service
      mkdir etc
      cp "$OLDPWD"/${TREE}/usr/lib/sysusers.d/* .
      systemd-sysusers --root=. "$PWD/datasensor.conf" 2>created
      for group in $(sed -n 's/^SupplementaryGroups=//p' *.service); do
        grep "^$group:" etc/group
      done`;
    using units = await Folder.create();
    const args = ["-ec", script, units.path];
    const { code, stdout, stderr } = await output("sh", args);
    assertEquals([code, stderr], [0, ""], stdout);
  },
);
