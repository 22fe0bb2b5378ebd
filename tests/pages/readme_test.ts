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
import { Folder } from "../helpers/files.ts";
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
const [, COMPILER] = (await Deno.readTextFile(".ci/run"))
  .match(/deno-linux-x64-glibc-(\S+)\/deno\n/)!;

/** Returns the versions of Deno that a page names. */
function listVersions(page: string): Set<string> {
  const named = page.matchAll(/deno(?:@|\S*\s)(\d[\d.]+\d)/gi);
  return new Set(Array.from(named, ([, version]) => version!));
}

Deno.test("the README names the oldest Deno, and no other", () => {
  assertEquals(listVersions(readme.text), new Set([OLDEST_DENO]));
});

Deno.test("CONTRIBUTING names the versions of Deno that CI tests, and no other", async () => {
  const page = await Deno.readTextFile(".github/CONTRIBUTING.md");
  assertEquals(listVersions(page), new Set([OLDEST_DENO, COMPILER]));
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

/** Runs a command of a page, in bash, with another port of the service. */
function runCommand(command: string, port = 0): Program {
  const service = programCommand(["--port", `${port}`]).flat()
    .map((word) => `'${word}'`).join(" ");
  const script = command.replace("deno task start", service);
  return new Program("bash", ["-c", script], { killGroup: true });
}

for (const [command, source, here, reading] of SENSORS) {
  Deno.test(`the command with ${source} feeds the service ${reading}`, async () => {
    await using program = runCommand(command.replace(source, here));
    await program.waitUntilListening();
    await program.waitForAnswer(reading);
  });
}

/** Returns the README's first command with a sensor, with its file in another folder. */
function firstSensor(folder: Folder): string {
  return readme.block("touch plugged-in")
    .replaceAll("plugged-in", `${folder.path}/plugged-in`);
}

Deno.test("the README's first sensor is answered as shown, before and after it stops", async () => {
  const [, reading, , , problem] = readme.block("$ rm plugged-in").split("\n");
  using folder = await Folder.create();
  const command = firstSensor(folder).replace("--max-age 5", "--max-age 1");
  await using program = runCommand(command);
  await program.waitUntilListening();
  await program.waitForAnswer(reading);
  await Deno.remove(`${folder.path}/plugged-in`);
  const withoutNumbers = (text: string) => text.replace(/\d+(\.\d+)? s\b/g, "");
  const ask = async () => await (await get(program.url)).text();
  const isShown = (body: string) =>
    withoutNumbers(body) === withoutNumbers(problem!);
  await waitFor(`the answer ${problem}`, ask, isShown);
});

Deno.test("the README's first sensor gives the prompt back if the service cannot start", async () => {
  using folder = await Folder.create();
  using other = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const { port } = other.addr as Deno.NetAddr;
  await using program = runCommand(firstSensor(folder), port);
  const { code } = await program.waitForEnd();
  assertEquals(code, 1, program.stderr);
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
