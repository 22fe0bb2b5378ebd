// Every text that the tests of boards look up in the guide or README is there: their
// modules do so while they are loaded, so that rewording one fails here within seconds,
// rather than after a board has booted.

const FOLDER = new URL("../board/", import.meta.url);

for await (const { name } of Deno.readDir(FOLDER)) {
  if (!name.endsWith(".ts") || name.endsWith("_test.ts")) continue;
  Deno.test(`the guide and README have what tests/board/${name} looks up`, async () => {
    await import(new URL(name, FOLDER).href);
  });
}
