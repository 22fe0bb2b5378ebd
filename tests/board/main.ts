// deno-lint-ignore-file no-console -- it prints to the console by design

// What `deno task test:board` runs: the tests in containers or, with a destination of
// ssh, those on a board of the user's.

import { Refusal } from "./own_board.ts";
import { tryBoard, USAGE } from "./try_board.ts";

/** Runs the tests in containers, and returns their exit code. */
async function testContainers(): Promise<number> {
  const args = ["task", "-q", "_test_containers"];
  const child = new Deno.Command(Deno.execPath(), { args }).spawn();
  // They clean up; the terminal sends them SIGINT, too
  Deno.addSignalListener("SIGINT", () => {});
  Deno.addSignalListener("SIGTERM", () => child.kill("SIGTERM"));
  return (await child.status).code;
}

if (import.meta.main) {
  const { args } = Deno;
  const [destination, ...rest] = args.filter((arg) =>
    !["--", "--yes"].includes(arg)
  );
  if (rest.length > 0 || destination?.startsWith("-")) {
    console.error(USAGE);
    Deno.exit(2);
  }
  try {
    const test = destination === undefined
      ? testContainers()
      : tryBoard(destination, args.includes("--yes"));
    Deno.exit(await test);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    Deno.exit(1);
  }
}
