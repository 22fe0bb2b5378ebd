// deno-lint-ignore-file no-console -- it prints to the console by design

// Runs the tests, and then lists what did not run, and why.

const list = await Deno.makeTempFile();
Deno.addSignalListener("SIGINT", () => {}); // Ctrl+C stops the tests, too
try {
  const test = new Deno.Command(Deno.execPath(), {
    args: ["task", "-q", "test", ...Deno.args],
    env: { DATASENSOR_SKIPPED: list },
  });
  Deno.exitCode = (await test.spawn().status).code;
  const skipped = await Deno.readTextFile(list);
  console.log(
    `${skipped}Not run: tests/board, see \`deno task test:board\` and \`test:arm\``,
  );
} finally {
  await Deno.remove(list);
}
