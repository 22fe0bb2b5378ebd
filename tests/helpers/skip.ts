// Skips tests, and says why.

/** Returns the options of a test that is skipped, even in CI, if there is a reason. */
export function skipIf(reason: string | undefined): { ignore: boolean } {
  if (reason !== undefined) reportSkipped(reason);
  return { ignore: reason !== undefined };
}

/** The reasons that tests of this file were skipped for. */
const reported = new Set<string>();

/** Adds a reason to the list that `deno task test` shows at its end. */
function reportSkipped(reason: string): void {
  if (reported.has(reason)) return;
  reported.add(reason);
  const file = Deno.mainModule.replace(/.*\/tests\//, "tests/");
  const line = `${JSON.stringify({ reason, file })}\n`;
  const list = Deno.env.get("DATASENSOR_SKIPPED");
  if (list) Deno.writeTextFileSync(list, line, { append: true });
}
