// Avahi announces the board, in a network that only this test sees.

import { assertEquals, assertMatch } from "@std/assert";
import { fill } from "./examples.ts";
import { readersPage } from "../helpers/guide.ts";
import { missingNamespaces, needs } from "../helpers/needs.ts";
import { Process } from "../helpers/process.ts";
import { programCommand } from "../helpers/program.ts";

/** Starts the service and Avahi on a host named board, with its own network. */
const START_BOARD = `
ip link set lo up
ip link add eth0 type veth peer name eth1
ip address add 192.0.2.7/24 dev eth0
ip link set eth0 up
ip link set eth1 up
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /etc/avahi/services
mkdir /run/dbus
dbus-daemon --system --nofork --nosyslog &
until [ -e /run/dbus/system_bus_socket ]; do sleep 0.1; done
printf '[server]\\nhost-name=board\\n' |
  avahi-daemon --no-drop-root --no-chroot --no-rlimits --file /dev/stdin &
until [ -e /run/avahi-daemon/socket ]; do sleep 0.1; done
eval "$0"
"$@" >/dev/null &
until curl -fso /dev/null http://127.0.0.1:5000/datasensor; do sleep 0.1; done
`;

/** Tells whether .local names can be resolved. */
function missingMulticastNames(): string | undefined {
  const names = Deno.readTextFileSync("/etc/nsswitch.conf");
  if (!names.includes("mdns")) return "install libnss-mdns";
}

Deno.test(
  "avahi.service announces the board, and the guide's commands find and read it",
  needs({
    commands: ["avahi-daemon", "avahi-browse", "curl", "dbus-daemon", "ip"],
    missing: [missingMulticastNames(), missingNamespaces()],
  }),
  async () => {
    const commands = fill(readersPage.block("avahi-browse"), {
      "BOARD.local": "board.local",
    });
    const install = fill(readersPage.block("avahi.service"), {
      "sudo ": "",
      "/usr/share/doc/datasensor/examples": "src/readers",
    });
    const script = `${START_BOARD}
until list=$(avahi-browse -rt _http._tcp) &&
  echo "$list" | grep -q "^= *eth0 IPv4" &&
  echo "$list" | grep -q "^= *eth0 IPv6"; do sleep 0.1; done
echo; echo LIST
echo "$list"
echo; echo GUIDE
${commands}
echo; echo END
wait`;
    await using board = new Process("unshare", [
      "--mount",
      "--net",
      "sh",
      "-ec",
      script,
      install,
      ...programCommand([]).flat(),
    ], { killGroup: true });
    await board.waitForMatch(/\nEND\n/);
    const [, list, found] = board.stdout.split(/\n(?:LIST|GUIDE)\n/);
    // avahi-browse shows one address of the host, of either family
    assertMatch(
      list!,
      /= +eth0 IPv4 Sensor data on board .*\n.* = \[board\.local\]\n.* = \[(192\.0\.2\.7|fe80:.*)\]\n.*port = \[5000\]\n.*\["path=\/datasensor"\]\n/,
    );
    assertMatch(list!, /= +eth0 IPv6 Sensor data on board /);
    assertEquals(found, 'board.local\n"Sensor data"\nEND\n');
  },
);
