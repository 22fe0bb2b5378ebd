// The page's unit publishes the readings of a board to Mosquitto, an MQTT broker.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";

const UNIT = readersPage.block("mosquitto_pub");

/**
 * The command that the unit runs, as systemd's manual has it: two dollar signs are one, and
 * a single one begins a variable, which is not set.
 */
const LOOP = UNIT.match(/^ExecStart=\/bin\/sh -c '(.*)'$/m)![1]!
  .replace(/\$(\$|\w*)/g, (_, name) => name === "$" ? "$" : "");

Deno.test(
  skipIf(
    missingMachine("mosquitto", "mosquitto_pub", "mosquitto_sub"),
    "the page's loop publishes each current reading, and nothing without one",
  ),
  async () => {
    await using machine = await Machine.start();
    const service = machine.startService("--stdin", "--max-age", "6");
    await using _service = service;
    await using loop = machine.start("sh", "-c", LOOP);
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
    await sendUntil(isRefused, "22"); // no broker yet
    await using _broker = machine.start("mosquitto");
    const subscribe = "mosquitto_sub -h localhost -v -t BOARD/datasensor";
    await using messages = machine.start(
      "sh",
      "-c",
      `until ${subscribe}; do sleep 0.1; done`,
    );
    const publish = async (reading: string) => {
      const line = `BOARD/datasensor "${reading}"\n`;
      await sendUntil(() => messages.stdout.includes(line), reading);
    };
    await publish("22");
    const stale = () => loop.stderr.split("curl: (22)").length;
    const before = stale();
    await waitFor("a stale reading", stale, (count) => count > before);
    await publish("23");
    await service.stop();
    await loop.waitForMatch(/curl: \(7\)/);
    const published = new Set(messages.stdout.trim().split("\n"));
    const readings = ["22", "23"].map((it) => `BOARD/datasensor "${it}"`);
    assertEquals([...published], readings);
    // They are not retained: a client that subscribes later gets only later ones
    const all = ["-h", "localhost", "-v", "-t", "#"];
    await using later = machine.start("mosquitto_sub", ...all);
    await waitFor("a message", async () => {
      await machine.type("mosquitto_pub -h localhost -t later -m 1");
      return later.stdout;
    }, Boolean);
    assertEquals(later.stdout.split("\n")[0], "later 1");
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
      `cat >${path} <<'END'\n${UNIT}END\nsystemd-analyze verify ${path}`;
    const { code, stderr } = await machine.type(write);
    assertEquals([code, stderr], [0, ""]);
  },
);
