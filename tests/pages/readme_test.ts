// Checks README.md and the guides against the source.

import { assert, assertEquals } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { HELP } from "../../src/process/command_line.ts";
import { CAPACITY_BYTES } from "../../src/log/line_writer.ts";
import { MAX_LINE_BYTES } from "../../src/sensor/line_reader.ts";
import {
  MEMORY_GROWTH_BYTES,
  MEMORY_LIMIT_BYTES,
} from "../../src/server/memory.ts";
import { OLDEST_DENO } from "../helpers/executable.ts";
import {
  guide,
  listBrokenLinks,
  readersPage,
  readme,
} from "../helpers/guide.ts";
import { get } from "../helpers/network.ts";
import { Program, programCommand } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

Deno.test("the README shows the text of --help", () => {
  assertEquals(readme.block("Usage: "), `${HELP}\n`);
});

Deno.test("the README and the guide show the same settings of a sensor", () => {
  const settings = readme.block("SENSOR=/usr/local/bin/my-sensor");
  assertEquals(settings, guide.block("SENSOR=/usr/local/bin/my-sensor"));
});

/** All pages. */
const PAGES = [
  "README.md",
  "src/board/README.md",
  "src/readers/README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
];

Deno.test("every link of a page leads to a file or a section", async () => {
  const broken = await Promise.all(PAGES.map(listBrokenLinks));
  assertEquals(broken.flat(), []);
});

/** The Deno whose runtime is in the executables that CI tests. */
const [, TESTED_DENO] = (await Deno.readTextFile(".ci/run"))
  .match(/deno-linux-x64-glibc-(\S+)\/deno\n/)!;

Deno.test("the README names the Deno that CI tests, the oldest, and no other", () => {
  const named = readme.text.matchAll(/deno(?:@|\S*\s)(\d[\d.]+\d)/gi);
  const versions = Array.from(named, ([, version]) => version);
  assertEquals(new Set(versions), new Set([TESTED_DENO, OLDEST_DENO]));
});

const MEMORY_LIMIT = `${MEMORY_LIMIT_BYTES / 1e6} MB`;
const MEMORY_GROWTH = MEMORY_GROWTH_BYTES / 1e6;

/** The lowest use with large pages, as the guide's table says. */
const LARGE_PAGES_IDLE = Number(guide.match(/\| 16 KB.*?\| (\d+) MB/)[1]);
const LARGE_PAGES_LIMIT = `${LARGE_PAGES_IDLE + MEMORY_GROWTH} MB`;

/** What the guide says about limits. */
const LIMITS = [
  `longer than ${MAX_LINE_BYTES / 2 ** 10} KiB`,
  `${CAPACITY_BYTES / 2 ** 20} MiB of lines`,
  `memory is above ${MEMORY_LIMIT}`,
  `Above ${MEMORY_LIMIT}, or ${MEMORY_GROWTH} MB above its lowest use`,
  `(${LARGE_PAGES_LIMIT} with pages of 16 KB)`,
];

Deno.test("the guide states the limits of the source", () => {
  const words = guide.text.replace(/\s+/g, " ");
  for (const limit of LIMITS) assert(words.includes(limit), limit);
});

/** The shell command that runs the service. */
const SERVICE = programCommand(["--port", "0"]).flat()
  .map((word) => `'${word}'`).join(" ");

/** What the commands of the README and the guide read, what stands in for it, and the reading. */
const SENSORS: [
  command: string,
  source: string,
  here: string,
  reading: string,
][] = [
  [
    readme.block("/proc/loadavg"),
    "</proc/loadavg",
    "<<<'0.42 0.40'", // in bash
    "0.42",
  ],
  [readersPage.block("date +%S"), "date +%S", "echo 07", '"07"'],
  // cut holds its lines back, unless it is told not to
  [
    readme.block("stdbuf"),
    "my-sensor",
    `cut -c 1-12 <(echo '{"t": 21.50}'; sleep 60)`, // in bash
    '{"t": 21.50}',
  ],
];

/** Runs a command of a page with `deno task start` as the service, in bash. */
function runCommand(command: string): Program {
  const script = command.replace("deno task start", SERVICE);
  return new Program("bash", ["-c", script], { killGroup: true });
}

for (const [command, source, here, reading] of SENSORS) {
  Deno.test(`the command with ${source} feeds the service ${reading}`, async () => {
    await using program = runCommand(command.replace(source, here));
    await program.waitUntilListening();
    await program.waitForAnswer(reading);
  });
}

Deno.test("the README's sensor that hangs is answered with 503 after the limit", async () => {
  const command = readme.block("sleep 60").replace(
    "--max-age 15",
    "--max-age 1",
  );
  await using program = runCommand(command);
  await program.waitUntilListening();
  const ask = async () => await (await get(program.url)).text();
  const isStale = (body: string) => /"The last reading is .* 1 s"/.test(body);
  await waitFor("the reading to be too old", ask, isStale);
});

Deno.test("every task that a page names exists", async () => {
  const tasks = Object.keys(project.tasks);
  for (const page of PAGES) {
    const text = await Deno.readTextFile(page);
    const named = text.matchAll(/deno(?:@[\d.]+)?\s+task ([a-z][\w:]*)/g);
    for (const [, task] of named) {
      assert(tasks.includes(task!), `${page}: ${task}`);
    }
  }
});
