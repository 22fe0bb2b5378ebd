// The page's unit publishes the readings of a board to Mosquitto, an MQTT broker, by the
// page's command for curl.

import { assert, assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { urlOf } from "../helpers/program.ts";

const PAGE = "src/readers/README.md";
const CURL = block(PAGE, "curl -fsS -m 5").trim();
const UNIT = block(PAGE, "mosquitto_pub");
const ONE_SENSOR = UNIT.replaceAll("/datasensor", "/datasensor/living%%20room");

/** Returns the command that a unit runs: two dollar or percent signs are one. */
const loopOf = (unit: string) =>
  unit.match(/^ExecStart=\/bin\/sh -c '(.*)'$/m)![1]!
    .replace(/([$%])\1/g, "$1");

const test = await testOnMachine(
  "mosquitto",
  "mosquitto_sub",
  "systemd-analyze",
);

test(
  "the page's loop publishes each current reading, or a sensor's, and nothing without one",
  async () => {
    assert(UNIT.includes(CURL));
    await using machine = await Machine.start();
    const unit = "/etc/systemd/system/mqtt-BOARD.service";
    const verified = await machine.type(
      `cat >${unit} <<'END'\n${ONE_SENSOR}END\nsystemd-analyze verify ${unit}`,
    );
    assertEquals([verified.code, verified.stderr], [0, ""]);
    const flags = ["--stdin", "--json", "--key", "room", "--max-age", "6"];
    await using service = machine.startService(...flags);
    await using loop = machine.start("sh", "-c", loopOf(UNIT));
    await using other = machine.start("sh", "-c", loopOf(ONE_SENSOR));
    await loop.waitForMatch(/curl: \(22\)/); // no reading yet
    const reading = (t: number) => `{"room":"living room","t":${t}}`;
    let t = 22;
    const sensor = setInterval(
      () => t && service.write(`${reading(t)}\n`),
      1000,
    );
    try {
      await loop.waitForMatch(/Connection refused/); // no broker yet
      await using _broker = machine.start("mosquitto");
      const subscribe = "mosquitto_sub -h localhost -v -t BOARD/#";
      const retry = `until ${subscribe}; do sleep 0.1; done`;
      await using messages = machine.start("sh", "-c", retry);
      const messagesOf = (t: number) => [
        `BOARD/datasensor {"living room":${reading(t)}}`,
        `BOARD/datasensor/living%20room ${reading(t)}`,
      ];
      const publish = async () => {
        for (const message of messagesOf(t)) {
          await messages.waitForMatch(RegExp(RegExp.escape(`${message}\n`)));
        }
      };
      await publish();
      loop.stderr = other.stderr = "";
      t = 0; // it is silent
      await loop.waitForMatch(/curl: \(22\)/);
      await other.waitForMatch(/curl: \(22\)/);
      t = 23;
      await publish();
      await service.stop();
      t = 0;
      await loop.waitForMatch(/curl: \(7\)/);
      const published = new Set(messages.stdout.trim().split("\n"));
      const expected = [...messagesOf(22), ...messagesOf(23)];
      assertEquals([...published].sort(), expected.sort());
    } finally {
      clearInterval(sensor);
    }
  },
);

test("the page's other command sends a reading as it is to an HTTP service", async () => {
  await using machine = await Machine.start();
  const send = block(PAGE, "--data-raw").trim().replace("URL", "BOARD:5000");
  const loop = loopOf(UNIT.replace(/timeout 5 mosq.*(?=; done)/, () => send));
  const code = `Deno.serve({ port: 5000 }, async (request) =>
    new Response("@/etc/passwd", console.log(request.headers.get("content-type"), await request.text())))`;
  const run = [Deno.execPath(), "run", "--allow-net", urlOf(code)];
  await using service = machine.start(...run);
  await using _loop = machine.start("sh", "-c", loop);
  await service.waitForMatch(/^application\/json @\/etc\/passwd$/m);
});
