// What runs on a machine that is always on: the page's line of cron, its loop that sends
// messages, and the sensor that is another board.

import { assertEquals, assertMatch } from "@std/assert";
import { block } from "../helpers/guide.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { programCommand, urlOf } from "../helpers/program.ts";

const PAGE = "src/readers/README.md";
const URL = "http://BOARD:5000/datasensor";

const test = await testOnMachine("jq", "openssl", "systemd-analyze");

/** Starts a server of the machine that answers by code. */
const serve = (machine: Machine, port: number, handler: string) =>
  machine.start(
    ...[Deno.execPath(), "run", "--allow-net"],
    urlOf(`Deno.serve({ port: ${port} }, ${handler})`),
  );

const HANG = "() => new Promise(() => {})";
const TAKE = `async (request) => {
  console.log(new URL(request.url).pathname, await request.text());
  return new Response();
}`;
/** A board that hangs at one look, and later fails for a reason of 135 KB. */
const FAIL = `() => {
  const looks = globalThis.looks = (globalThis.looks ?? 0) + 1;
  if (looks === 2) return new Promise(() => {});
  const status = looks > 3 ? 503 : 200;
  return new Response("@/etc/hostname ".repeat(9_000), { status });
}`;

test("the page's loop sends one message at each death and return, also once the receiver is back", async () => {
  await using machine = await Machine.start();
  await machine.folder.write("bin/sleep", "#!/bin/sh\nexec /bin/sleep 0.1\n");
  const { stdout, stderr } = await machine.type(
    `${
      block(PAGE, "messages.sh")
    }systemd-analyze verify messages-BOARD.service`,
  );
  assertEquals(stderr, "");
  assertMatch(
    stdout,
    RegExp(`messages.sh ${URL} https:\\S+-[0-9a-f]{16}$`, "m"),
  );
  const start = (topic: string, ...filter: string[]) =>
    machine.start(
      "messages.sh",
      URL,
      `http://localhost:8000/${topic}`,
      ...filter,
    );

  await using board = machine.startService("--stdin", "--max-age", "none");
  await using loop = start("1");
  await loop.waitForMatch(/curl: \(7\)/); // the receiver is down
  await board.write("21.5\n");
  await using hanging = serve(machine, 8000, HANG);
  await loop.waitForMatch(/curl: \(28\)/);
  await hanging.stop();
  await using receiver = serve(machine, 8000, TAKE);
  await receiver.waitForMatch(/ is back/);
  await using threshold = start("2", '. < "20"');
  await receiver.waitForMatch(/^\/2 BOARD:5000\/datasensor: "21.5"$/m);
  await threshold.stop();
  await board.stop();
  await receiver.waitForMatch(/^\/1 .*: curl/m);
  await using _other = serve(machine, 5000, FAIL);
  await receiver.waitForMatch(/^\/1 .*@/m);
  const messages = receiver.stdout.match(
    /(?<=^\/1 BOARD:5000\/datasensor).*/gm,
  );
  assertEquals(messages?.map((it) => it.slice(0, 15)), [
    ": The sensor ha",
    " is back",
    ": curl: (7) Fai",
    " is back",
    ": @/etc/hostnam",
  ]);
  assertEquals(messages![4]!.length, 1000 - "BOARD:5000/datasensor".length);
});

test("the page's line of cron saves a file only if the board answers", async () => {
  await using machine = await Machine.start();
  const [, command] = block(PAGE, "0 0 * * *").match(/^0 0 \* \* \* (.*)$/m)!;
  const save = `${command!.replaceAll("\\%", "%")} && cat`;
  await machine.typeUntil(`${save} BOARD-*; ls BOARD-*`, /^\[2\]$/);
  await using board = machine.startService("--stdin", "--json");
  await board.write("21.5\n");
  await machine.typeUntil(`${save} "BOARD-$(date +%F).csv"`, /^time\s*\[0\]$/);
});

test("sensors.sh shows another board's number under its name until that board dies", async () => {
  const greenhouse = `#!/bin/sh\necho '{"t": 23.5}'`;
  const files = { "/usr/local/bin/greenhouse": greenhouse };
  await using machine = await Machine.start(files);
  await machine.folder.write("bin/sleep", "#!/bin/sh\nexec /bin/sleep 0.3\n");
  const flags = ["--stdin", "--json", "--key", "name", "--max-age", "3"];
  const service = programCommand([...flags, "--port", "5001"]).flat();
  const script = '/usr/share/datasensor/sensors.sh | "$@"';
  await using _board = machine.start("sh", "-c", script, "sh", ...service);
  await using other = machine.startService("--stdin", "--json");
  await other.write("21.5\n");
  const read = "curl -sS http://BOARD:5001/datasensor";
  const rest = '"greenhouse":{"name":"greenhouse","t":23.5}';
  const cellar = '"cellar":{"value":21.5,"name":"cellar"}';
  await machine.typeUntil(read, RegExp(`^{${cellar},${rest}}\\[0\\]$`));
  await other.stop();
  await machine.typeUntil(read, RegExp(`^{${rest}}\\[0\\]$`));
});
