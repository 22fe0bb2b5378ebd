// What runs by itself: the page's messages and its line of cron, and a board that reads another.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { programCommand, urlOf } from "../helpers/program.ts";

const PAGE = "src/readers/README.md";
const FAST_SLEEP = "#!/bin/sh\nexec /bin/sleep 0.1\n";

const HANGING = "Deno.serve({ port: 8000 }, () => new Promise(() => {}))";
const TAKING = `Deno.serve({ port: 8000 }, async (request) =>
  new Response(console.log(await request.text())))`;
/** A board that hangs at one look, and later fails for a reason of 135 KB. */
const FAILING = `let looks = 0;
Deno.serve({ port: 5000 }, () => ++looks === 2 ? new Promise(() => {})
  : new Response("@".repeat(135_000), { status: looks > 3 ? 503 : 200 }))`;

const test = await testOnMachine("jq", "openssl", "systemd-analyze");

test("the page's loop sends one message at each death and return, also once the receiver is back", async () => {
  await using machine = await Machine.start();
  await machine.folder.write("bin/sleep", FAST_SLEEP);
  const verify = "systemd-analyze verify messages-BOARD.service";
  const install = block(PAGE, "messages.sh") + verify;
  const { stdout, stderr } = await machine.type(install);
  assertEquals(stderr, "");
  const [, board] = stdout.match(/ (http:\S+) https:\S+-[0-9a-f]{16}$/m)!;
  const loop = ["messages.sh", board!, "http://localhost:8000"];
  const serve = (code: string) =>
    machine.start(Deno.execPath(), "run", "--allow-net", urlOf(code));
  await using service = machine.startService("--stdin", "--max-age", "none");
  await using messages = machine.start(...loop);
  await messages.waitForMatch(/curl: \(7\)/); // the receiver is down
  await service.write("21.5\n");
  await using hanging = serve(HANGING);
  await messages.waitForMatch(/curl: \(28\)/);
  await hanging.stop();
  await using receiver = serve(TAKING);
  await receiver.waitForMatch(/ is back/);
  await using threshold = machine.start(...loop, '. < "20"');
  await receiver.waitForMatch(/21\.5/);
  await threshold.stop();
  await service.stop();
  await receiver.waitForMatch(/: curl/);
  await using _failing = serve(FAILING);
  await receiver.waitForMatch(/^.{999}@$/m);
  const texts = receiver.stdout.match(/(?<=^BOARD:5000.datasensor).{1,9}/gm);
  const expected = ': The sen, is back,: "21.5",: curl: (, is back,: @@@@@@@';
  assertEquals(`${texts}`, expected);
});

test("sensors.sh has another board's number, and cron's line saves its day, until it dies", async () => {
  const files = { "/usr/local/bin/greenhouse": "#!/bin/sh\necho '{\"t\":9}'" };
  await using machine = await Machine.start(files);
  await machine.folder.write("bin/sleep", FAST_SLEEP);
  const flags = ["--json", "--key", "name", "--max-age", "3", "--port", "5001"];
  const service = programCommand(["--stdin", ...flags]).flat();
  const script = '/usr/share/datasensor/sensors.sh | "$@"';
  await using _board = machine.start("sh", "-c", script, "sh", ...service);
  await using other = machine.startService("--stdin", "--json");
  await other.write("21.5\n");
  const read = "curl -sS http://BOARD:5001/datasensor";
  const cellar = '^{"cellar":{"value":21.5,"name":"cellar"},';
  const rest = '"greenhouse":{"name":"greenhouse","t":9}}\\[0\\]$';
  await machine.typeUntil(read, RegExp(cellar + rest));
  const [, cron] = block(PAGE, "0 0 * * *").match(/^0 0 \* \* \* (.*)$/m)!;
  const save = `${cron!.replaceAll("\\%", "%")} && cat BOARD-*.csv`;
  await machine.typeUntil(save, /^time\s*\[0\]$/);
  await other.stop();
  await machine.typeUntil(read, RegExp(`^{${rest}`));
  await machine.typeUntil(`rm BOARD-*; ${save}; ls BOARD-*`, /^\[2\]$/);
});
