// The page's unit publishes the readings of a board to Mosquitto, an MQTT broker.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";

const UNIT = readersPage.block("mosquitto_pub");

/**
 * Returns the command that a unit runs, as systemd's manual has it: two dollar or percent
 * signs are one, and a single dollar sign begins a variable, which is not set.
 */
const loopOf = (unit: string) =>
  unit.match(/^ExecStart=\/bin\/sh -c '(.*)'$/m)![1]!
    .replaceAll("%%", "%")
    .replace(/\$(\$|\w*)/g, (_, name) => name === "$" ? "$" : "");

const ONE_SENSOR = UNIT.replaceAll("/datasensor", "/datasensor/living%%20room");

Deno.test(
  skipIf(
    missingMachine("mosquitto", "mosquitto_pub", "mosquitto_sub"),
    "the page's loop publishes each current reading, or a sensor's, and nothing without one",
  ),
  async () => {
    await using machine = await Machine.start();
    const service = machine.startService(
      ...["--stdin", "--json", "--key", "room", "--max-age", "6"],
    );
    await using _service = service;
    await using loop = machine.start("sh", "-c", loopOf(UNIT));
    await using other = machine.start("sh", "-c", loopOf(ONE_SENSOR));
    await loop.waitForMatch(/curl: \(22\)/); // no reading yet
    /** Sends a reading again and again: it may be stale before the loop reads it. */
    const sendUntil = async (isDone: () => boolean, reading: string) => {
      const send = async () => {
        await service.write(`${reading}\n`);
        return isDone();
      };
      await waitFor(`what becomes of "${reading}"`, send, Boolean, {
        pause: 1000,
      });
    };
    const isRefused = () => loop.stderr.includes("Connection refused");
    const reading = (t: number) => `{"room":"living room","t":${t}}`;
    await sendUntil(isRefused, reading(22)); // no broker yet
    await using _broker = machine.start("mosquitto");
    const subscribe = "mosquitto_sub -h localhost -v -t BOARD/#";
    await using messages = machine.start(
      "sh",
      "-c",
      `until ${subscribe}; do sleep 0.1; done`,
    );
    const messagesOf = (t: number) => [
      `BOARD/datasensor {"living room":${reading(t)}}`,
      `BOARD/datasensor/living%20room ${reading(t)}`,
    ];
    const publish = async (t: number) => {
      const isPublished = () =>
        messagesOf(t).every((it) => messages.stdout.includes(`${it}\n`));
      await sendUntil(isPublished, reading(t));
    };
    await publish(22);
    const stale = () =>
      [loop, other].map((it) => it.stderr.split("curl: (22)").length);
    const before = stale();
    const areMore = (counts: number[]) =>
      counts.every((count, index) => count > before[index]!);
    await waitFor("stale readings", stale, areMore);
    await publish(23);
    await service.stop();
    await loop.waitForMatch(/curl: \(7\)/);
    const published = new Set(messages.stdout.trim().split("\n"));
    const expected = [...messagesOf(22), ...messagesOf(23)];
    assertEquals([...published].sort(), expected.sort());
  },
);

Deno.test(
  skipIf(
    missingMachine("systemd-analyze"),
    "systemd accepts the page's unit for MQTT",
  ),
  async () => {
    await using machine = await Machine.start();
    const path = "/etc/systemd/system/mqtt-BOARD.service";
    const write =
      `cat >${path} <<'END'\n${ONE_SENSOR}END\nsystemd-analyze verify ${path}`;
    const { code, stderr } = await machine.type(write);
    assertEquals([code, stderr], [0, ""]);
  },
);
