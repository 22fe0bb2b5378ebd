// The guide's sensor that reads from Mosquitto, an MQTT broker, which goes and comes back.

import { assert, assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";
import { SensorUnit } from "./sensor_unit.ts";

const [, SENSOR] = guide.block("mosquitto_sub -R").match(/^SENSOR=(.*)$/m)!;

const TOPIC = "zigbee2mqtt/kitchen";

/** Starts a broker that keeps retained messages in a folder when it stops. */
async function startBroker(folder: Folder, port: number): Promise<Process> {
  const file = `${folder.path}/mosquitto.conf`;
  const lines = [
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "persistence true",
    `persistence_location ${folder.path}/`,
    "user root", // otherwise, the broker could not write to the folder
  ];
  await Deno.writeTextFile(file, lines.join("\n") + "\n");
  const broker = new Process("mosquitto", ["-c", file]);
  return await broker.untilReady(() => broker.waitForMatch(/ running/));
}

async function publish(
  port: number,
  message: string,
  ...flags: string[]
): Promise<void> {
  const args = ["-h", "127.0.0.1", "-p", `${port}`, "-t", TOPIC, "-m", message];
  const { code, stderr } = await output("mosquitto_pub", [...args, ...flags]);
  assertEquals([code, stderr], [0, ""]);
}

Deno.test(
  "the guide's sensor prints the messages of a broker, also once it is back, but not those that it has retained",
  needs({ commands: ["mosquitto", "mosquitto_sub", "mosquitto_pub"] }),
  async () => {
    using folder = await Folder.create();
    using unit = await SensorUnit.create();
    using reserved = new ReservedPort();
    const port = reserved.number;
    const sensor = SENSOR!.replace("-h BROKER", `-h 127.0.0.1 -p ${port}`);
    await using first = await startBroker(folder, port);
    await publish(port, "1", "-r");
    await using subscriber = unit.start(sensor);
    // Publishes until it arrives: nothing tells when the sensor has subscribed
    const arrives = (message: string) =>
      waitFor(`"${message}"`, async () => {
        await publish(port, message);
        return subscriber.stdout.includes(`${message}\n`);
      });
    await arrives('{"t": 2}');
    await first.stop();
    await using second = await startBroker(folder, port);
    await arrives('{"t": 3}');
    // The broker still has the message that must be skipped
    const args = ["-h", "127.0.0.1", "-p", `${port}`, "-t", TOPIC, "-C", "1"];
    assertEquals((await output("mosquitto_sub", args)).stdout, "1\n");
    assert(!/^1$/m.test(subscriber.stdout), subscriber.stdout);
    assertEquals(second.stderr.match(/error/i), null);
  },
);
