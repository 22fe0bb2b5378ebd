// Checks what the README and the guide say about the service, its settings, its
// log and its security. Each check leaves the settings as they were installed.

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { parseAccessLine } from "../helpers/access_line.ts";
import { guide, readme } from "../helpers/guide.ts";
import { HALF_BODY, send } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { measureRestart } from "./measures.ts";
import {
  type Check,
  configure,
  edit,
  journal,
  keepSettings,
  property,
  restoreSettings,
  revert,
  write,
} from "./operations.ts";
import { section } from "./session.ts";

/** A command that asks over IPv6. */
const ASK_IPV6 = "curl -sS http://[::1]:5000/datasensor";

/** The guide's flags, as an example. */
const FLAGS = guide.block("FLAGS=--host :: --message");

/** Other commands and settings of the README and the guide. */
const START_BY_HAND = readme.line("ulimit -n");
const SHOW_STATUS = guide.line("systemctl status");
const SHOW_MEMORY = guide.block("-p MemoryCurrent");
const [, SAID_DESCRIPTORS] = guide.match(/and (\d+) file\s+descriptors/);
const PORT_80 = guide.block("FLAGS=--host :: --port 80");
const ALLOW_PORT_80 = guide.block("CAP_NET_BIND_SERVICE");
const FOLLOW_LOG = guide.line("# follow new lines");
const SHOW_SIZE = guide.line("# size");
const SHOW_WARNINGS = guide.line("# warnings");
const KEEP_WARNINGS = guide.block("LogLevelMax=notice");
const ALLOW_ADDRESSES = guide.block("IPAddressDeny=any");

function countRequests(lines: string[]): number {
  return lines.filter((line) => parseAccessLine(line)).length;
}

/** Installs the package, and keeps what later checks restore. */
export const INSTALLATION: Check[] = [
  {
    name: "a group that only some systems have is removed",
    isOnTheWay: true,
    async run(board) {
      await board.run("sudo groupdel plugdev");
    },
  },

  section("Install"),

  {
    name: "the installed settings are kept for other checks",
    isOnTheWay: true,
    run: keepSettings,
  },
];

/**
 * Lets a local account bind port 80 over IPv4 and IPv6, as fast as it can, while the
 * service runs out of descriptors and is stopped and started, six times. Prints why it
 * could not at last, or that it could.
 */
const STEAL_PORT_80 = `
cat >/tmp/steal.pl <<'END'
use Socket qw(:all);
my ($family, $address) = $ARGV[0] == 4
  ? (AF_INET, pack_sockaddr_in(80, INADDR_ANY))
  : (AF_INET6, pack_sockaddr_in6(80, IN6ADDR_ANY));
while (!-e "/tmp/attacked") {
  socket(my $socket, $family, SOCK_STREAM, 0);
  setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1);
  setsockopt($socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) if $family == AF_INET6;
  if (bind($socket, $address)) { print "Port 80 is stolen\n"; exit }
}
print "$!\n";
END
cat >/tmp/hold.pl <<'END'
use Socket;
my @held;
for (1 .. 220) {
  socket(my $socket, AF_INET, SOCK_STREAM, 0);
  connect($socket, pack_sockaddr_in(80, INADDR_LOOPBACK));
  push @held, $socket;
}
sleep 1;
END
for family in 4 6; do
  sudo runuser -u nobody -- nice perl /tmp/steal.pl $family &
done
for round in 1 2 3 4 5 6; do
  sudo runuser -u nobody -- timeout 10 perl /tmp/hold.pl
  sudo systemctl stop datasensor
  sudo systemctl start datasensor
  for try in $(seq 100); do
    curl -fso /dev/null -m 1 http://127.0.0.1/datasensor && break
    sleep 0.1
  done
done
touch /tmp/attacked
wait
rm /tmp/steal.pl /tmp/hold.pl /tmp/attacked
`;

/** The checks of the guide's sections "Settings" to "Security". */
export const SERVICE: Check[] = [
  {
    name: "systemctl status shows the addresses",
    async run(board) {
      const status = await board.run(SHOW_STATUS);
      assertMatch(
        status,
        /Running on http:\/\/10\.0\.2\.15:5000\/datasensor\n/,
      );
    },
  },

  {
    name:
      "the unit limits descriptors as the README and the guide say, and systemctl show says whether it limits memory",
    needs: ["an ARM processor"],
    async run(board) {
      const limit = await property(board, "LimitNOFILE");
      assertMatch(START_BY_HAND, RegExp(`ulimit -n ${limit};`));
      assertEquals(SAID_DESCRIPTORS, limit);
      const answer = await board.read(SHOW_MEMORY);
      const isOn = board.kind.has.includes("a memory controller");
      assertMatch(answer, isOn ? /=\d+$/ : /=\[not set\]$/);
    },
  },

  {
    name: "after SIGKILL, the service is restarted within 2 s",
    async run(board) {
      const seconds = await measureRestart(board);
      assert(seconds <= 2, `It took ${seconds} s`);
    },
  },

  {
    name:
      "when memory runs out, the kernel kills the service first, and it is restarted",
    needs: ["a kernel of its own"],
    async run(board) {
      const larger = 'import time; data = b"x" * 500_000_000; time.sleep(1e6)';
      await board.run(`sudo systemd-run --unit=other python3 -c '${larger}'`);
      const other = await property(board, "MainPID", "other");
      await board.waitFor(
        "the other program to take 500 MB, in KB",
        async () => Number(await board.read(`ps -o rss= ${other}`)),
        (kilobytes) => kilobytes * 1024 > 500_000_000,
      );
      const before = await property(board, "MainPID");
      const restarts = Number(await property(board, "NRestarts"));
      await board.run("echo f | sudo tee /proc/sysrq-trigger"); // as if it did
      await board.waitFor(
        `restart ${restarts + 1}`,
        async () => Number(await property(board, "NRestarts")),
        (count) => count === restarts + 1,
      );
      await board.waitForAnswer("200");
      assertNotEquals(await property(board, "MainPID"), before);
      assertEquals(await property(board, "MainPID", "other"), other);
      await board.run("sudo systemctl stop other");
    },
  },

  {
    name: "the service stops within 3 s, and has logged every request",
    async run(board) {
      const port = board.port(5000);
      const url = `http://127.0.0.1:${port}/datasensor`;
      const ids = Array.from({ length: 100 }, (_, index) => `?id=${index};`);
      using busy = await Deno.connect({ port });
      await send(busy, HALF_BODY);
      for (const id of ids) await (await fetch(url + id)).text();
      await board.run("sudo systemctl stop datasensor");
      assertEquals(await property(board, "Result"), "success");
      const begin = await property(board, "ActiveExitTimestampMonotonic");
      const end = await property(board, "InactiveEnterTimestampMonotonic");
      const seconds = (Number(end) - Number(begin)) / 1e6;
      assert(seconds <= 3, `It took ${seconds} s`);
      const logged = (await journal(board)).map((line) =>
        line.match(/\?id=\d+;/)?.[0]
      ).filter(Boolean);
      assertEquals(logged.sort(), ids.sort());
      await board.run("sudo systemctl start datasensor");
      await board.waitForAnswer("200");
    },
  },

  {
    name: "the service waits for its port, and its status says why",
    async run(board) {
      await board.run(`sudo systemctl stop datasensor
sudo systemd-run --unit=other /usr/bin/datasensor --message other`);
      await board.waitForAnswer('200 "other"');
      await board.run("sudo systemctl start datasensor");
      const status = async () => (await board.attempt(SHOW_STATUS)).stdout;
      await board.waitForText("the status", status, /port 5000/);
      assertEquals(await property(board, "NRestarts"), "0");
      await board.run("sudo systemctl stop other");
      await board.waitForAnswer('200 "Sensor data"');
    },
  },

  {
    name: "the guide's flags set the address and the text",
    async run(board) {
      assertEquals((await board.attempt(ASK_IPV6)).code, 7); // refused
      await configure(board, FLAGS);
      await board.waitForAnswer('200 "Hello, world"');
      assertEquals(await board.run(ASK_IPV6), '"Hello, world"');
    },
  },

  {
    name: "with --host 127.0.0.1, other machines get no answer",
    async run(board) {
      await configure(board, FLAGS.replace("::", "127.0.0.1"));
      const ask = ASK_IPV6.replace("[::1]", "127.0.0.1");
      const answer = async () => (await board.attempt(ask)).stdout;
      await board.waitForText("the answer", answer, /^"Hello, world"$/);
      assertEquals(await board.answer(), "no answer");
    },
  },

  {
    name:
      "the service listens on port 80 only with the guide's drop-in, also after a reboot",
    isOnTheWay: true,
    async run(board) {
      await configure(board, PORT_80);
      const status = async () => (await board.attempt(SHOW_STATUS)).stdout;
      await board.waitForText("the status", status, /port 80/);
      assertEquals(await board.answer(80), "no answer");
      await edit(board, ALLOW_PORT_80);
      await board.waitForAnswer("200", 80);
      await board.reboot();
      await board.waitForAnswer("200", 80);
      await revert(board);
      await restoreSettings(board);
      await board.waitForAnswer("200");
    },
  },

  {
    name: "no local account gets port 80 while the service does not listen",
    async run(board) {
      await configure(board, PORT_80);
      await edit(board, ALLOW_PORT_80);
      await board.waitForAnswer("200", 80);
      const stolen = await board.run(STEAL_PORT_80);
      assertEquals(stolen, "Permission denied\n".repeat(2));
      const log = await journal(board, "datasensor");
      const isTrue = (line: string) => line.includes("Too many open files");
      assert(log.some(isTrue), "The descriptors did not run out");
      await revert(board);
      await restoreSettings(board);
      await board.waitForAnswer("200");
    },
  },

  {
    name:
      "the guide's commands show the log, and its drop-in keeps only warnings",
    async run(board) {
      const env = board.environment;
      await using follower = new Process("ssh", ["BOARD", FOLLOW_LOG], { env });
      const follow = async () => {
        await board.answer();
        return follower.stdout;
      };
      await board.waitForText(
        "what follows the log",
        follow,
        /GET \/datasensor/,
      );
      assertMatch(await board.run(SHOW_SIZE), /take up .*M in the/);

      await configure(board, "FLAGS=--stdin --json");
      await edit(board, KEEP_WARNINGS);
      await board.waitForAnswer("503");
      const before = await journal(board);
      await write(board, "oops");
      const warnings = () => board.run(SHOW_WARNINGS);
      await board.waitForText("the warnings", warnings, /oops/);
      await board.waitForAnswer("503");
      const after = await journal(board);
      assertEquals(countRequests(after), countRequests(before));
      await revert(board);
      await board.waitFor(
        `more than ${countRequests(after)} requests in the log`,
        async () => {
          await board.answer();
          return countRequests(await journal(board));
        },
        (count) => count > countRequests(after),
      );
      await restoreSettings(board);
      await board.waitForAnswer("200");
    },
  },

  {
    name: "only the addresses in IPAddressAllow= can connect",
    needs: ["BPF"],
    async run(board) {
      await edit(board, ALLOW_ADDRESSES);
      const ask = "curl -sS --retry 60 --retry-connrefused --retry-delay 1 " +
        "http://127.0.0.1:5000/datasensor";
      assertEquals(await board.run(ask), '"Sensor data"');
      assertEquals(await board.answer(), "no answer");
      await revert(board);
      await board.waitForAnswer("200");
    },
  },
];
