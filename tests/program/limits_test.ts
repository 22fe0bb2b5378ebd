// What clients, sensors and a console may take of the program, which keeps answering.

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  flood,
  NO_WINDOW,
  openHttp2,
  requests,
  sendUnread,
} from "../helpers/http2.ts";
import {
  GET,
  getMany,
  HALF_BODY,
  HALF_HEADER,
  open,
  receive,
} from "../helpers/network.ts";
import { output, shell } from "../helpers/process.ts";
import {
  getDenoFlags,
  Program,
  programCommand,
  urlOf,
} from "../helpers/program.ts";
import { testWith } from "../helpers/skip.ts";
import { delay, waitFor } from "../helpers/wait.ts";

const LIMIT_MB = 144; // above which the program would close all connections
const OPEN_FILES = 192; // as in the service's unit
const ENV = { DENO_USR2_MEMORY_TRIM: "1", MALLOC_TRIM_THRESHOLD_: "131072" };
const LIMITED = {
  wrap: ["sh", "-c", `ulimit -n ${OPEN_FILES}; exec "$@"`, "sh"],
};
const test = testWith("ss"); // on Linux, which has /proc

/** Asserts how much resident memory a program has taken at most, in 10^6 bytes. */
async function assertSmall({ pid }: Program, limit = LIMIT_MB): Promise<void> {
  const line = await shell(`grep VmHWM /proc/${pid}/status`);
  const memory = parseInt(line.split(":")[1]!) * 1024 / 1e6;
  assert(memory < limit, `It took ${memory} MB`);
}

const FORGED = `seq -f '{"id":%.0f,"t":21.5}' 1000000000 | "$@"`;

test("the program answers while a flood forges the names of sensors, and keeps few", async () => {
  const options = { wrap: ["sh", "-c", FORGED, "sh"] };
  const args = ["--stdin", "--json", "--key", "id"];
  await using program = await Program.start(args, options);
  const last = async () => {
    const get = async (url: string) => (await fetch(url)).text();
    await get(program.url.replace("datasensor", "metrics"));
    const names = Object.keys(JSON.parse(await get(program.url)));
    return Number(names.at(-1) ?? 0);
  };
  await waitFor("the name 20,000", last, (name) => name > 20_000);
  await assertSmall(program);
  // One a minute; on a busy machine, seq itself may pause within a line
  const isPause = (line: string) => line.includes("pause before they end");
  const warnings = program.messages.filter((line) => !isPause(line)).join("\n");
  assertMatch(warnings, /^(WARN Forgetting the sensors .* such as "\d+"\n?)+$/);
});

test("V8 ends the program rather than take more memory than the limit", async () => {
  const fill = `const kept = [];
    while (Deno.memoryUsage().rss < ${LIMIT_MB}e6) kept.push(Array(1000).fill(1.5));
    console.log("more than the limit");`;
  const run = ["run", ...getDenoFlags(), urlOf(fill)];
  const limit = ["-c", 'ulimit -c 0; exec "$@"', "sh", Deno.execPath()];
  const { code, stdout, stderr } = await output("sh", [...limit, ...run]);
  assertEquals([code === 0, stdout], [false, ""]);
  assertMatch(stderr, /out of memory/);
});

test("the program keeps a long reading once, however many responses are never read", async () => {
  await using program = await Program.start(["--stdin"]);
  const reading = "x".repeat(60_000);
  await program.write(`${reading}\n`);
  await program.waitForAnswer(`"${reading}"`);
  const before = program.lines.length;
  using held = new DisposableStack();
  for (let count = 0; count < 20; count++) {
    held.use(await openHttp2(program.port, NO_WINDOW, ...requests(200)));
  }
  await program.waitForLines(before + 4000);
  await assertSmall(program); // copies would take 240 MB more
  await program.stop();
  assertEquals(program.messages, []);
});

/** What is logged once, although the program recovers several times. */
const recovered = (reason: string) =>
  `WARN Closed all connections to recover from "${reason}"`;

for (const [attack, times] of [[flood, 1], [sendUnread, 2]] as const) {
  test(`the program recovers when the requests of ${attack.name}() take too much memory, as often as they do`, async () => {
    await using program = await Program.start([], { ...LIMITED, env: ENV });
    for (let time = 0; time < times; time++) {
      await attack(program.port);
      await program.waitForAnswer();
    }
    await assertSmall(program, 512);
    assertEquals((await program.stop()).code, 0);
    const logged = [recovered("Too much memory in use")];
    assertEquals([...new Set(program.messages)], logged);
  });
}

const HOLDERS = OPEN_FILES + 10;
const RECOVERIES = 8;

Deno.test(`the program answers new clients while ${HOLDERS} hold idle connections, kept alive ones, half headers and half bodies`, async () => {
  await using program = await Program.start([], LIMITED);
  const sent = ["", HALF_HEADER, GET, HALF_BODY];
  let isOver = false;
  let closed = 0;
  let refused = 0;
  const holders = Array.from({ length: HOLDERS }, async (_, index) => {
    while (!isOver) {
      try {
        const request = sent[index % sent.length]!;
        using connection = await open(program.port, request);
        await receive(connection); // until it is closed
        closed++;
      } catch (error) {
        const isRefused = error instanceof Deno.errors.ConnectionRefused;
        if (isRefused) refused++;
        else closed++; // it is reset
        await delay(isRefused ? 10 : 1);
      }
    }
  });
  const askUntilClosed = async () => {
    await program.waitForAnswer();
    return closed;
  };
  const isEnough = (closed: number) => closed > RECOVERIES * HOLDERS;
  await waitFor("recoveries", askUntilClosed, isEnough);
  const share = refused / closed;
  isOver = true;
  assertEquals((await program.stop()).code, 0); // which closes the connections
  await Promise.all(holders);
  // A recovery that holds its port refuses few: 0 to 0.05 of what it closes, by 0.25 to 2
  // processors and beside busy loops. One that does not refuses 0.2 to 0.45
  assert(share < 0.15, `${share} refused connections for each closed one`);
  const reason = "Http: Error: Too many open files (os error 24)";
  assertEquals([...new Set(program.messages)], [recovered(reason)]);
  assertEquals(program.stderr, "");
});

const UNFINISHED = [HALF_HEADER, HALF_BODY, "GET /\0\xff", "\x16\x03\x01", GET];

test("the program keeps no descriptor of unfinished, malformed and reset requests", async () => {
  await using program = await Program.start([], LIMITED);
  await program.waitForAnswer();
  const count = async () =>
    Number(await shell(`ls /proc/${program.pid}/fd | wc -l`));
  const descriptors = await count();
  // Three times as many as it may hold, but few at a time: it may be slow to notice their end
  for (let round = 0; round < 15; round++) {
    for (let client = 0; client < 40; client++) {
      const request = UNFINISHED[client % UNFINISHED.length]!;
      (await open(program.port, request)).close(); // before it has read an answer
    }
    await program.waitForAnswer();
    const isFreed = (open: number) => open <= descriptors;
    await waitFor("their descriptors to be closed", count, isFreed);
  }
  await program.stop();
  assertEquals([program.messages, program.stderr], [[], ""]);
});

test("the program answers and stops while its console is a full disk", async () => {
  const run = programCommand(["--port", "0"]).flat();
  const full = ["-c", 'exec "$@" >/dev/full', "sh", ...run];
  await using program = new Program("sh", full);
  // The start report cannot be read
  const list = () => output("ss", ["-Hltnp"]).then(({ stdout }) => stdout);
  const line = RegExp(`:(\\d+) .*pid=${program.pid},`);
  const sockets = await waitFor("its port", list, (text) => line.test(text));
  await getMany(Number(sockets.match(line)![1]), 500);
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stderr, "");
});
