// deno-lint-ignore-file no-console -- it prints to the console by design

// Tries datasensor on a board of the user's, leaves the board as it was, and prints a
// report to paste: what was checked, what was measured, and what datasensor-doctor says.

import { missingCommand } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { tail } from "../helpers/wait.ts";
import type { Board } from "./board.ts";
import {
  measureFlood,
  measureLatency,
  measureLoad,
  measureRestart,
  measureStart,
  readTemperature,
} from "./measures.ts";
import { type Check, keepSettings, restoreSettings } from "./operations.ts";
import { Connection, Refusal, refuse, restoreCommand } from "./own_board.ts";
import { section } from "./session.ts";

export const USAGE = `Usage: deno task test:board [--yes] [DESTINATION]

Without DESTINATION, follows the guide in containers. With it, such as
pi@raspberrypi.local, tries datasensor on that board, and leaves it as it was.

  --yes  do not ask before the board is changed`;

/** What the service takes on a board, with the units in which it is reported. */
interface Measures {
  start: string;
  memory: string;
  rate: string;
  latency: string;
  journal: string;
  flood: string;
  restart: string;
  temperature: string;
}

/** What is reported of a board. */
interface Report {
  readonly checks: [name: string, result: string][];
  readonly measures: Partial<Measures>;
  /** What datasensor-doctor says while a sensor is served, or when a check has failed. */
  doctor: string;
}

/** How measures are called, in the order of the guide's table. It has the first five. */
const LABELS: Record<keyof Measures, string> = {
  start: "first answer after the start",
  memory: "memory, idle and after 10,000 requests",
  rate: "requests per second of 20 clients",
  latency: "latency of one client, median and 99 %",
  journal: "journal per request",
  flood: "first answer after a flood of 5 s began",
  restart: "restart after SIGKILL",
  temperature: "the board's temperature, served",
};
const IN_TABLE = ["start", "memory", "rate", "latency", "journal"] as const;

/** Measures the service that serves the fixed text. */
async function measure(board: Board, { measures }: Report): Promise<void> {
  const start = await measureStart(board);
  const load = await measureLoad(board);
  const [p50, p99] = await measureLatency(board);
  const flood = await measureFlood(board);
  Object.assign(measures, {
    start: `${start} s`,
    memory: `${load.idleMb} MB, ${load.loadedMb} MB`,
    rate: `${load.requestsPerSecond}`,
    latency: `${p50} ms, ${p99} ms`,
    journal: `${load.journalKb.toFixed(1)} KB`,
    flood: `${flood} s`,
  });
}

/** Returns what datasensor-doctor says. */
async function examine(board: Board): Promise<string> {
  return (await board.attempt("sudo datasensor-doctor")).stdout.trim();
}

/** What is done on the board, in order. */
function listSteps(report: Report): Check[] {
  return [
    section("Install"),
    {
      name: "the speed and the memory",
      run: (board) => measure(board, report),
    },
    {
      name: "a service that was killed is restarted",
      async run(board) {
        const seconds = await measureRestart(board);
        report.measures.restart = `${seconds.toFixed(2)} s`;
      },
    },
    {
      name: "the board's temperature",
      async run(board) {
        await keepSettings(board);
        const celsius = await readTemperature(board);
        report.measures.temperature = celsius === undefined
          ? "unknown to its kernel"
          : `${celsius} °C`;
        await restoreSettings(board);
      },
    },
    section("Set a sensor"),
    {
      name: "the report of datasensor-doctor",
      async run(board) {
        report.doctor = await examine(board);
      },
    },
    section("Update"),
    section("Remove"),
  ];
}

/** Prints a text, unless nobody reads it any more: the board must be restored all the same. */
function print(text = ""): void {
  try {
    console.log(text);
  } catch {
    // The terminal was closed, or the program in a pipe has ended
  }
}

/** Asks the user, who may answer on one line. `read` is the shell's command for that. */
async function ask(question: string, read = "read -rp"): Promise<string> {
  const script = `IFS= ${read} "$0" answer && printf %s "$answer"`;
  const bash = new Deno.Command("bash", {
    args: ["-c", script, question],
    stdin: "inherit",
    stderr: "inherit", // where the question is
  });
  return new TextDecoder().decode((await bash.output()).stdout);
}

/** Follows the steps until one fails, and returns whether none did. */
async function follow(board: Board, report: Report): Promise<boolean> {
  for (const { name, run } of listSteps(report)) {
    const begin = performance.now();
    try {
      await run(board);
    } catch (error) {
      print(`failed: ${name}\n${tail(`${error}`)}`);
      report.checks.push([name, "**failed**"]);
      report.doctor ||= await examine(board).catch(() => ""); // out of reach
      return false;
    }
    const seconds = (performance.now() - begin) / 1000;
    report.checks.push([name, "passed"]);
    print(`passed: ${name} (${seconds.toFixed(1)} s)`);
  }
  return true;
}

/** Returns the report in Markdown. It contains no name or address of the board. */
async function format({ checks, measures, doctor }: Report): Promise<string> {
  const { stdout } = await output("git", ["describe", "--always", "--dirty"]);
  const [, board = "A board"] = doctor.match(/^Board: *(.*)$/m) ?? [];
  const [, deno = ""] = doctor.match(/\(Deno ([\d.]+)/) ?? [];
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const date = new Date().toISOString().slice(0, 10);
  const named = (Object.keys(LABELS) as (keyof Measures)[])
    .map((name) => [LABELS[name], measures[name] ?? ""]);
  return `
## ${board}

\`deno task test:board\` of commit ${stdout.trim()}, ${date}

| check | result |
| ----- | ------ |
${checks.map(row).join("\n")}

| measure | value |
| ------- | ----- |
${named.map(row).join("\n")}

\`\`\`text
${doctor}
\`\`\`

The row of the guide's table:

${row([board, deno, ...IN_TABLE.map((name) => measures[name] ?? "")])}`;
}

/** Tries a board, and returns the exit code. */
export async function tryBoard(
  destination: string,
  isSure: boolean,
): Promise<number> {
  const missing = missingCommand("curl", "dpkg-deb", "git", "scp", "ssh");
  if (missing) throw new Refusal(`To try a board, ${missing}`);
  await using connection = await Connection.open(destination);
  // Until the board is changed, a signal ends the program
  let interrupt = (): unknown =>
    connection[Symbol.asyncDispose]().then(() => Deno.exit(INTERRUPTED));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => interrupt());
  }

  const facts = await connection.examine();
  const reason = refuse(destination, facts);
  if (reason) throw new Refusal(reason);
  print(`\
This tries datasensor on "${destination}" (${facts.architecture}, ${facts.release}),
which takes some minutes. It
- installs the package, without what the package recommends
- sends 11,000 requests, and opens more connections than the service can have
- kills the service, which systemd restarts
- serves a sensor, stops it, and starts it again
- updates the package, and removes it

Afterwards, the board is as it was, but for lines in its logs. Should this program not
get that far, one command makes it so:
  ${restoreCommand(destination)}
`);
  if (!isSure && !/^y/i.test(await ask("Go on? [y/N] "))) return 1;
  if (!facts.sudo.endsWith("free")) {
    const question = `Password for sudo on ${destination}: `;
    await connection.usePassword(await ask(question, "read -rsp"));
    print();
  }

  print("Making the packages");
  const board = await connection.makePackages(facts);
  let isInterrupted = false;
  // From now on, it ends the steps, and the board is made as it was
  interrupt = () => {
    isInterrupted = true;
    board.interrupt("You have interrupted it");
  };
  const report: Report = { checks: [], measures: {}, doctor: "" };
  let hasPassed = false;
  await connection.createFolder();
  try {
    hasPassed = await follow(board, report);
  } finally {
    print("Making the board as it was");
    const problem = await connection.restore();
    if (problem) {
      print(`It is not as it was: ${problem}
Once it can be reached, this command makes it so:
  ${restoreCommand(destination)}`);
      hasPassed = false;
    }
  }
  if (isInterrupted) return INTERRUPTED;
  print(await format(report));
  return hasPassed ? 0 : 1;
}

/** The exit code after Ctrl+C. */
const INTERRUPTED = 130;
