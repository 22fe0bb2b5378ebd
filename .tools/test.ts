// deno-lint-ignore-file no-console -- it prints to the console by design

// Runs the tests in the given files and folders, and lists at the end what was skipped.
//
// Usage: test.ts FLAGS-OF-DENO-TEST [FILE|FOLDER]...

/** What proxies must not be used for. */
const LOOPBACK = "127.0.0.1,::1,localhost";

const { FORCE_COLOR: _, ...inherited } = Deno.env.toObject(); // tests read what is printed
const NO_PROXY = [inherited.NO_PROXY, inherited.no_proxy, LOOPBACK].join();
// Tests wait for programs and deadlines more than they compute
const jobs = inherited.DENO_JOBS ?? `${navigator.hardwareConcurrency + 2}`;

const list = await Deno.makeTempFile();
Deno.addSignalListener("SIGINT", () => {}); // Ctrl+C ends the tests, and then this
try {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--parallel", ...Deno.args],
    clearEnv: true,
    env: {
      ...inherited,
      NO_PROXY,
      no_proxy: NO_PROXY,
      DENO_JOBS: jobs,
      DATASENSOR_SKIPPED: list,
    },
  }).spawn().status;
  Deno.exitCode = code;
  const skipped = (await Deno.readTextFile(list)).split("\n").filter(Boolean)
    .map((line) => JSON.parse(line));
  const files = Object.groupBy(skipped, ({ reason }) => reason);
  for (const [reason, tests] of Object.entries(files)) {
    const names = tests!.map(({ file }) => file).toSorted();
    console.log(`Skipped tests (${reason}): ${names.join(", ")}`);
  }
} finally {
  await Deno.remove(list);
}
