// `deno task test:board DESTINATION`: a container is the user's board, which can only be
// reached through ssh.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { output, Process } from "../helpers/process.ts";
import { createRandom, SEED } from "../helpers/random.ts";
import { delay, waitFor } from "../helpers/wait.ts";
import { missingTerminal, onTerminal } from "../helpers/terminal.ts";
import { Board } from "./board.ts";
import { container } from "./container.ts";
import { type Facts, refuse, restoreCommand } from "./own_board.ts";
import { findPackages } from "./packages.ts";
import { missingBoard } from "./prepare.ts";

/** How long a run may take, in ms. It takes a minute on a machine that does nothing else. */
const LIMIT_MS = 300_000;

/** Users of the board: one needs a password for sudo. */
const PASSWORD = ' correct "horse" $HOME \\ ';
const CREATE_USERS = `
sudo useradd -m -s /bin/bash -G sudo ada
echo 'ada:${PASSWORD}' | sudo chpasswd
sudo useradd -m -s /bin/bash bob
echo 'bob ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/bob`;

/** The destinations of these users. */
const BY_PASSWORD = "my-board-of-ada";
const BY_KEY = "my-board";

/** The user's computer: a folder with an ssh and an scp that know both destinations. */
async function createComputer(board: Board): Promise<Folder> {
  const folder = await Folder.create();
  const config = `${folder.path}/config`;
  await Deno.writeTextFile(
    config,
    `Host ${BY_KEY} ${BY_PASSWORD}
HostName 127.0.0.1
Port ${board.port(22)}
IdentityFile ${board.folder}/key
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
Host ${BY_KEY}
User bob
Host ${BY_PASSWORD}
User ada
`,
  );
  for (const name of ["scp", "ssh"]) {
    const { stdout } = await output("which", [name]);
    const script = `#!/bin/sh\nexec ${stdout.trim()} -F ${config} "$@"\n`;
    const path = `${folder.path}/${name}`;
    await Deno.writeTextFile(path, script, { mode: 0o755 });
  }
  return folder;
}

/** Runs the task on a terminal. */
function run(computer: Folder, ...args: string[]): Process {
  const command = [Deno.execPath(), "task", "-q", "test:board", ...args];
  const path = `${computer.path}:${Deno.env.get("PATH")}`;
  return new Process(...onTerminal(command, "", { PATH: path }));
}

/** What must be the same on the board afterwards. */
function look(board: Board): Promise<string> {
  return board.run(`dpkg-query -W
getent group
systemctl list-unit-files --no-legend
systemctl list-units --all --plain --no-legend 'datasensor*'
processes=$(ps -eo user,comm=) # not those of the next line
echo "$processes" | grep -v -e sshd -e '(sd-pam)' -e systemd -e ' ps$' | sort
# Not what dpkg, groupadd and systemd write at any time
sudo find /etc /usr /var/lib -xdev ! -type d ! -path '/etc/*-' \
  ! -path '/var/lib/dpkg/*-old' ! -path /var/lib/dpkg/status \
  ! -path '/var/lib/systemd/*' -printf '%p %m %u %g %s %l\n' | sort
sudo find /etc -type f ! -name '*-' -print0 | sort -z | sudo xargs -0 sha256sum
sudo find /etc /usr /var/lib /home /tmp -name '*datasensor*'`);
}

/** How many steps a run has, and how long the last one takes at least, in ms. */
const STEPS = 8;
const LAST_STEP_MS = 500;

const random = createRandom(SEED);

/** Waits until a run is at a random moment of a random step. */
async function waitForMoment(trial: Process): Promise<void> {
  const passed = Math.floor(random() * STEPS);
  const begin = new RegExp(`Making the packages\n(passed: .*\n){${passed}}`);
  await trial.waitForMatch(begin, LIMIT_MS);
  await delay(random() * LAST_STEP_MS);
}

/** Ends the connections of the user's computer, but not those of the test. */
const CUT_OFF = "sudo pkill -KILL -u bob -f '^sshd'";

/** What stands in the way of a run: how to make it, to undo it, and what is said. */
const IN_ITS_WAY: [make: string, undo: string, reason: RegExp][] = [
  [
    "sudo touch /etc/default/datasensor",
    "sudo rm /etc/default/datasensor",
    /has datasensor already \(\/etc\/default\/datasensor\)/,
  ],
  [
    "sudo systemd-run --unit other python3 -m http.server 5000",
    "sudo systemctl stop other",
    /Another program uses port 5000/,
  ],
];

/** The first row of the guide's table. */
const [HEADER] = guide.match(/^\| board .*/m);

/** What cannot be reached, and what is said. */
const NOT_REACHED: [destination: string, reason: RegExp][] = [
  ["no-board.invalid", /"ssh no-board.invalid" fails/],
  ["pi@127.0.0.1:22", /"pi@127.0.0.1:22" is no destination/],
  ["ssh://pi@127.0.0.1", /"ssh:\/\/pi@127.0.0.1" is no destination/],
  ["", /"" is no destination/],
];

const FACTS: Facts = {
  system: "Linux",
  systemd: "systemd 252 (252.39-1~deb12u1)",
  architecture: "arm64",
  release: "Debian GNU/Linux 12 (bookworm)",
  page: "4096",
  sudo: "free",
  installed: "",
  folder: "",
  port: "",
  shell: "/bin/bash",
};

const REFUSED: [Partial<Facts>, RegExp][] = [
  [{ system: "Darwin" }, /runs "Darwin", and datasensor needs Linux/],
  [{ systemd: "" }, /does not run systemd/],
  [{ systemd: "systemd 247 (247.3-7)" }, /runs "systemd 247 .* 252 or newer/],
  [{ architecture: "armhf" }, /is for "armhf", .* 64-bit Debian: arm64 or/],
  [{ architecture: "" }, /is for "no dpkg"/],
  [{ sudo: "bash: line 1: sudo: command not found" }, /has no sudo/],
  [{ port: "LISTEN 0 128 0.0.0.0:5000" }, /Another program uses port 5000/],
  [{ installed: "install ok installed" }, /has datasensor already/],
  [{ shell: "/usr/bin/fish" }, /shell of "my-board" is "\/usr\/bin\/fish"/],
  [{ folder: "/home/pi/datasensor-test" }, /of another run.*restore/s],
];

Deno.test("a board that cannot be tried is refused in a sentence", () => {
  assertEquals(refuse("my-board", FACTS), undefined);
  for (const [facts, reason] of REFUSED) {
    assertMatch(refuse("my-board", { ...FACTS, ...facts })!, reason);
  }
});

Deno.test({
  ...needs({ missing: [await missingBoard("container"), missingTerminal()] }),
  name: "a user's board is tried through ssh, and is as it was afterwards",
  async fn(test) {
    const kind = container("trixie");
    await using board = await Board.boot(
      kind,
      await findPackages(kind.processor),
    );
    await board.run(CREATE_USERS);
    using computer = await createComputer(board);
    const before = await look(board);
    const assertIsAsItWas = async () => {
      const connections = async () =>
        (await output("pgrep", ["-fa", computer.path])).stdout;
      await waitFor("no connection", connections, (text) => text === "");
      assertEquals(await look(board), before);
    };

    await test.step("with a password of sudo, after a question", async () => {
      await using trial = run(computer, BY_PASSWORD);
      await trial.waitForMatch(/Go on\? \[y\/N\] $/);
      await trial.write("y\n");
      await trial.waitForMatch(/Password for sudo on my-board-of-ada: $/);
      await trial.write(`${PASSWORD}\n`);
      const { code } = await trial.waitForEnd(LIMIT_MS);
      const { stdout } = trial;
      assertEquals(code, 0, stdout);
      assertEquals(stdout.match(/^passed: /gm)?.length, STEPS);
      const [, report] = stdout.split("\n## ");
      assertMatch(report!, /^\| memory, .* \| \d+ MB, \d+ MB \|$/m);
      assertMatch(report!, /^All is well: the reading is \d+ s old$/m);
      for (const name of [BY_PASSWORD, "ada", PASSWORD, "10.0.2.15"]) {
        assert(!report!.includes(name), `The report contains "${name}"`);
      }
      const row = report!.trim().split("\n").at(-1)!;
      assertEquals(row.split(" | ").length, HEADER.split(" | ").length, row);
      await assertIsAsItWas();
    });

    await test.step("not without a yes, or with a wrong password", async () => {
      await using first = run(computer, BY_PASSWORD);
      await first.waitForMatch(/Go on\? \[y\/N\] $/);
      await first.write("\n");
      assertEquals((await first.waitForEnd()).code, 1);
      await using second = run(computer, "--yes", BY_PASSWORD);
      await second.waitForMatch(/Password for sudo on my-board-of-ada: $/);
      await second.write("wrong\n");
      assertEquals((await second.waitForEnd()).code, 1);
      assertMatch(second.stdout, /does not accept the password/);
      await assertIsAsItWas();
    });

    await test.step("stopped in some way at a random moment", async () => {
      for (const act of ["interrupt", "cut off", "hang up"]) {
        await using trial = run(computer, "--yes", BY_KEY);
        await waitForMoment(trial);
        if (act === "hang up") {
          await trial.stop("SIGKILL"); // its terminal
        } else {
          if (act === "interrupt") await trial.write("\x03");
          else await board.run(CUT_OFF);
          const { code } = await trial.waitForEnd(LIMIT_MS);
          if (act === "interrupt") assertEquals(code, 130);
        }
        await assertIsAsItWas();
      }
    });

    await test.step("out of reach, until the printed command is run", async () => {
      await using trial = run(computer, "--yes", BY_KEY);
      await trial.waitForMatch(/passed: session.md: Install/);
      await board.run(`sudo systemctl stop ssh.socket ssh\n${CUT_OFF}`);
      const { code } = await trial.waitForEnd(LIMIT_MS);
      assertEquals(code, 1);
      assert(trial.stdout.includes(`  ${restoreCommand(BY_KEY)}\n`));
      await board.run("sudo systemctl start ssh");
      const env = { PATH: `${computer.path}:${Deno.env.get("PATH")}` };
      await output("sh", ["-c", restoreCommand(BY_KEY)], { env });
      await assertIsAsItWas();
    });

    await test.step("refused if something stands in its way", async () => {
      for (const [make, undo, reason] of IN_ITS_WAY) {
        await board.run(make);
        await using trial = run(computer, "--yes", BY_KEY);
        assertEquals((await trial.waitForEnd()).code, 1);
        assertMatch(trial.stdout, reason);
        await board.run(undo);
      }
      for (const [destination, reason] of NOT_REACHED) {
        await using trial = run(computer, "--yes", destination);
        assertEquals((await trial.waitForEnd()).code, 1);
        assertMatch(trial.stdout, reason);
      }
      await assertIsAsItWas();
    });
  },
});
