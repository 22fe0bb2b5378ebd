// deno-lint-ignore-file no-console -- it prints to the console by design

// What `deno task test:board` runs: follows the sessions, each in a fresh container with
// each release of Debian, side by side.

import { missingCommand } from "../helpers/needs.ts";
import "../helpers/suppressed_error.ts";
import {
  Container,
  interruption,
  makeImage,
  type Release,
  RELEASES,
} from "./container.ts";
import { makePackages } from "./packages.ts";
import { type Check, follow, parseChecks } from "./session.ts";

const USAGE = "Usage: deno task test:board [SUBJECT | RELEASE]...";

/** How many boards run at once: they wait more than they compute. */
const BOARDS = Number(Deno.env.get("DATASENSOR_BOARDS")) ||
  3 * navigator.hardwareConcurrency;

/** How much of the first failure, and how many others, fit on a screen of 30 lines. */
const CAUSE_LINES = 14;
const FAILURES = 12;

/** Shows why a step has failed, unless that fails too. */
const SHOW_JOURNAL = `sudo journalctl --sync
journalctl -u 'datasensor*' -q --no-hostname | grep -v ' HTTP/1.1" ' | tail -n 30`;

/** A page that is followed on a release of Debian. */
interface Session {
  readonly subject: string;
  readonly release: Release;
  readonly checks: Check[];
}

/** A session that differs from its page, or could not be followed. */
interface Failure {
  /** Its page, release and section. */
  readonly title: string;
  /** The lines that differ, or the error. */
  readonly cause: string;
}

/** Returns what is missing, as a sentence that says what to do. */
function findMissing(): string | undefined {
  if (Deno.build.os !== "linux") return "use Linux";
  if (Deno.uid() !== 0) return "be root, who can start containers";
  return missingCommand(
    "curl",
    "dpkg-deb",
    "ip",
    "mmdebstrap",
    "ssh",
    "systemd-nspawn",
    "wget",
  );
}

/** Returns the subjects of the pages beside this file. */
async function listSubjects(): Promise<string[]> {
  const names = await Array.fromAsync(
    Deno.readDir("tests/board"),
    ({ name }) => name,
  );
  return names.filter((name) => name.endsWith(".md"))
    .map((name) => name.replace(".md", "")).sort();
}

/** Returns the sessions whose subject and release are named, by default all. */
async function listSessions(args: string[]): Promise<Session[]> {
  const all = {
    subjects: await listSubjects(),
    releases: Object.keys(RELEASES),
  };
  const named = (names: string[]) => {
    const found = names.filter((name) => args.includes(name));
    return found.length > 0 ? found : names;
  };
  const unknown = args.filter((arg) =>
    ![...all.subjects, ...all.releases].includes(arg)
  );
  if (unknown.length > 0) {
    console.error(`${USAGE}

Subjects: ${all.subjects.join(", ")}
Releases: ${all.releases.join(", ")}`);
    Deno.exit(2);
  }
  const pages = named(all.subjects).map(async (subject) => {
    const page = await Deno.readTextFile(`tests/board/${subject}.md`);
    return { subject, checks: parseChecks(page) };
  });
  const releases = named(all.releases) as Release[];
  // The longest pages first: none of them should run alone at the end
  const length = ({ checks }: Pick<Session, "checks">) =>
    checks.flatMap(({ steps }) => steps).length;
  const sorted = (await Promise.all(pages))
    .sort((one, other) => length(other) - length(one));
  return sorted.flatMap((page) =>
    releases.map((release) => ({ ...page, release }))
  );
}

/** Follows a session in a fresh container. Returns what differs from its page, if so. */
async function run(
  { subject, release, checks }: Session,
  image: string,
  dist: string,
): Promise<Failure | undefined> {
  const title = `${subject} ${release}`;
  await using board = await Container.boot(image, dist);
  for (const { name, steps } of checks) {
    const begin = performance.now();
    for (const step of steps) {
      try {
        await follow(board, step);
      } catch (error) {
        if (interruption.signal.aborted) return;
        const cause = (error as Error).message;
        const { text } = await board.type("board", SHOW_JOURNAL, 30_000);
        console.log(`FAILED ${title}: ${name}

${cause}

The end of the board's journal:
${text}
To follow it alone: deno task test:board ${title}
`);
        return { title: `${title}: ${name}`, cause };
      }
    }
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`ok ${title}: ${name} (${seconds} s)`);
  }
}

/** Follows sessions side by side, and returns those that fail. */
async function runAll(sessions: Session[]): Promise<Failure[]> {
  const releases = [...new Set(sessions.map(({ release }) => release))];
  console.log("Making the packages and, if they are missing, the images");
  const made = await Promise.allSettled([
    makePackages(),
    ...releases.map(makeImage),
  ]);
  const [packages, ...images] = made.map((it) => {
    if (it.status === "rejected") throw it.reason; // once all have ended
    return it.value;
  }) as [string, ...string[]];
  const failures: Failure[] = [];
  const rest = sessions.values(); // which the workers share
  const work = async () => {
    for (const session of rest) {
      if (interruption.signal.aborted) return;
      const image = images[releases.indexOf(session.release)]!;
      const failure = await run(session, image, packages).catch((error) => {
        if (interruption.signal.aborted) return;
        const title = `${session.subject} ${session.release}`;
        const cause = Deno.inspect(error);
        console.log(`FAILED ${title}: ${cause}\n`);
        return { title, cause };
      });
      if (failure) failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: BOARDS }, work));
  return failures;
}

/** Repeats what has failed, and why the first did. */
function report(first: Failure, others: Failure[]): void {
  const lines = first.cause.split("\n");
  console.log(`The first failure, ${first.title}:`);
  console.log(lines.slice(0, CAUSE_LINES).join("\n"));
  if (lines.length > CAUSE_LINES) console.log("...");
  if (others.length > 0) console.log("\nAlso failed:");
  for (const { title } of others.slice(0, FAILURES)) console.log(title);
  const rest = others.length - FAILURES;
  if (rest > 0) console.log(`... and ${rest} more, which are named above`);
}

if (import.meta.main) {
  const sessions = await listSessions(Deno.args.filter((arg) => arg !== "--"));
  const missing = findMissing();
  if (missing) {
    console.log(`Skipped: to follow the sessions, ${missing}`);
    Deno.exit(Deno.env.has("CI") ? 1 : 0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => interruption.abort());
  }
  const failures = await runAll(sessions).catch((error) => {
    return [{ title: "before the first session", cause: Deno.inspect(error) }];
  });
  if (interruption.signal.aborted) Deno.exit(130);
  const [first, ...others] = failures;
  if (first) {
    report(first, others);
    Deno.exit(1);
  }
  console.log(`All ${sessions.length} sessions are as they are written`);
}
