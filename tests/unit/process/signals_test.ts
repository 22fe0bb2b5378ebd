// What stops the program, in a process that receives real signals and throws errors.

import { assert, assertEquals } from "@std/assert";
import { Process } from "../../helpers/process.ts";
import { missing, skipIf } from "../../helpers/skip.ts";
import { onTerminal } from "../../helpers/terminal.ts";
import { waitFor } from "../../helpers/wait.ts";

const SIGNALS = import.meta.resolve("../../../src/process/signals.ts");

/** Starts a process that prints which signal is aborted; redirected, on a terminal. */
async function start(statement = "", redirection?: string): Promise<Process> {
  const file = redirection ? "/dev/tty" : "/dev/stdout";
  const code = `import { stopSignal, uncaughtErrorSignal } from "${SIGNALS}";
    const options = { append: true };
    const say = (text) => Deno.writeTextFileSync("${file}", text + "\\n", options);
    stopSignal().onabort = () => say("stop");
    const uncaught = uncaughtErrorSignal();
    uncaught.onabort = () => setTimeout(() => say(uncaught.reason));
    Deno.addSignalListener("SIGUSR1", () => say("running"));
    setTimeout(() => {}, 100_000); // ends even if a test cannot end it
    say("ready");
    ${statement}`;
  const child = redirection
    ? new Process(...onTerminal([Deno.execPath(), "eval", code], redirection))
    : new Process(Deno.execPath(), ["eval", code]);
  return await child.untilReady(() => child.waitForMatch(/ready\n/));
}

/** Does something that ends a process, every 20 ms until it does. */
async function repeatUntilEnd(
  child: Process,
  act: () => void | Promise<void>,
): Promise<Deno.CommandStatus> {
  const repeat = () => Promise.try(act).catch(() => {}); // it is ending
  const timer = setInterval(repeat, 20);
  return await child.waitForEnd().finally(() => clearInterval(timer));
}

for (const first of ["SIGTERM", "SIGINT"] as const) {
  const second = first === "SIGINT" ? "SIGTERM" : "SIGINT";
  Deno.test(`stopSignal() is aborted by ${first}, unlike by SIGHUP, and ${second} kills the process from 0.5 s later`, async () => {
    await using child = await start();
    for (const expected of ["ready\nrunning\n", "ready\nrunning\nrunning\n"]) {
      child.kill("SIGHUP"); // without a terminal
      child.kill("SIGUSR1");
      const said = () => child.stdout;
      await waitFor(`"${expected}"`, said, (text) => text === expected);
    }
    const begin = performance.now();
    child.kill(first);
    await child.waitForMatch(/stop\n/);
    const { signal } = await repeatUntilEnd(child, () => child.kill(second));
    const duration = performance.now() - begin;
    assertEquals(signal, second);
    assert(450 < duration, `It took ${duration} ms`);
    assertEquals(child.stdout, "ready\nrunning\nrunning\nstop\n");
  });
}

/** Redirections that leave only one stream on the terminal. */
const STREAMS = {
  input: ">/dev/null 2>&1",
  output: "</dev/null 2>/dev/null",
  error: "</dev/null >/dev/null",
};

for (const [stream, redirection] of Object.entries(STREAMS)) {
  Deno.test(
    skipIf(
      missing("script"),
      `stopSignal() is aborted by SIGHUP if the standard ${stream} is a terminal`,
    ),
    async () => {
      await using child = await start("", redirection);
      const pid = parseInt(child.stdout); // which the terminal shows first
      Deno.kill(pid, "SIGHUP");
      await child.waitForMatch(/ready\nstop\n$/);
      await repeatUntilEnd(child, () => child.write("\x03")); // Ctrl+C
    },
  );
}

const ERRORS = ["setTimeout(() => { throw 7; })", "Promise.reject(7)"];

for (const statement of ERRORS) {
  Deno.test(`uncaughtErrorSignal() is aborted by ${statement}, and the process runs on`, async () => {
    await using child = await start(statement);
    await child.waitForMatch(/^ready\n7\n$/);
    assertEquals(child.stderr, "");
  });
}
