// deno-lint-ignore-file no-console -- it prints to the console by design

// Runs the tests in the given files and folders. At the end, lists what was skipped, and
// repeats which tests failed, with the error of the first.
//
// Usage: test.ts FLAGS-OF-DENO-TEST [FILE|FOLDER]...

/** What proxies must not be used for. */
const LOOPBACK = "127.0.0.1,::1,localhost";

/** What colors a text. */
// deno-lint-ignore no-control-regex -- it begins with a control character
const COLORS = /\x1b\[[\d;]*m/g;

/** How much of the first error, and how many failures, fit on a screen of 30 lines. */
const ERROR_LINES = 16;
const FAILURES = 10;

const { FORCE_COLOR: _, ...inherited } = Deno.env.toObject(); // tests read what is printed
const NO_PROXY = [inherited.NO_PROXY, inherited.no_proxy, LOOPBACK].join();
// Tests wait for programs and deadlines more than they compute
const jobs = inherited.DENO_JOBS ?? `${navigator.hardwareConcurrency + 2}`;

const list = await Deno.makeTempFile();
Deno.addSignalListener("SIGINT", () => {}); // Ctrl+C ends the tests, and then this
try {
  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "-P", "--parallel", ...Deno.args],
    clearEnv: true,
    env: {
      ...inherited,
      NO_PROXY,
      no_proxy: NO_PROXY,
      DENO_JOBS: jobs,
      DATASENSOR_SKIPPED: list,
    },
    stdout: "piped",
  }).spawn();
  const printed = await print(tests.stdout);
  Deno.exitCode = (await tests.status).code;
  const skipped = (await Deno.readTextFile(list)).split("\n").filter(Boolean)
    .map((line) => JSON.parse(line));
  const files = Object.groupBy(skipped, ({ reason }) => reason);
  for (const [reason, tests] of Object.entries(files)) {
    const names = tests!.map(({ file }) => file).toSorted();
    console.log(`Skipped tests (${reason}): ${names.join(", ")}`);
  }
  if (Deno.exitCode !== 0) repeatFailures(printed);
} finally {
  await Deno.remove(list);
}

/** Passes on what the tests print, and returns it. */
async function print(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let printed = "";
  for await (const chunk of stream) {
    Deno.stdout.writeSync(chunk);
    printed += decoder.decode(chunk, { stream: true });
  }
  return printed;
}

/** Prints the first error, and the list of failures, at most a screen of both. */
function repeatFailures(printed: string): void {
  const [, errors, names] = printed.replace(COLORS, "")
    .match(/^ ERRORS \n\n(.*)^ FAILURES \n\n(.*?)\n\n/ms) ?? [];
  if (!errors || !names) return; // the tests did not start, and their last line says why
  const [first] = errors.split(
    /\n\n(?=.* => \.\/|.* \(uncaught error\)\n)/,
  ) as [string];
  const lines = first.split("\n").filter((line) => line.trim());
  console.log(lines.slice(0, ERROR_LINES).join("\n"));
  if (lines.length > ERROR_LINES) console.log("...");
  const failures = names.split("\n");
  console.log("\nFailed tests:");
  console.log(failures.slice(0, FAILURES).join("\n"));
  const rest = failures.length - FAILURES;
  if (rest > 0) console.log(`... and ${rest} more, which are named above`);
}
