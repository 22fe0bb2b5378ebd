// deno-lint-ignore-file no-console -- it prints to the console by design

// Ends with what to do if this Deno is too old: its own errors would name no version. Even
// Deno 2.4 can run it.

const oldest = Deno.readTextFileSync(".dvmrc").trim();
const { deno } = Deno.version;
const compare = new Intl.Collator("en", { numeric: true }).compare;

if (compare(deno, oldest) < 0) {
  console.error(
    `Deno ${deno} is too old: this repository needs ${oldest} or newer
Run "deno upgrade ${oldest}", or "npx --yes deno@${oldest}" in place of "deno"`,
  );
  Deno.exit(1);
}
