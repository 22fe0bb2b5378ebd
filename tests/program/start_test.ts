// The addresses that the program reports at its start.

import { assertEquals } from "@std/assert";
import { Machine, missingMachine } from "../helpers/machine.ts";
import { skipIf } from "../helpers/skip.ts";

/** Gives a machine two more addresses. */
const JOIN_NETWORK = `for address in 192.0.2.7 2001:db8::7; do
  ip address add "$address" dev lo
done`;

/** The addresses that the program reports for each value of --host. */
const ADDRESSES = {
  "0.0.0.0": ["127.0.0.1", "192.0.2.7"],
  "::": ["127.0.0.1", "192.0.2.7", "[2001:db8::7]"],
  "::1": ["[::1]"],
};

for (const [host, addresses] of Object.entries(ADDRESSES)) {
  Deno.test(
    skipIf(
      missingMachine(),
      `the program reports all addresses with --host ${host}, and answers there`,
    ),
    async () => {
      await using machine = await Machine.start();
      await machine.type(JOIN_NETWORK);
      await using program = machine.startService("--host", host);
      await program.waitForMatch(/Press CTRL\+C/);
      const urls = program.stdout.match(/(?<=Running on )http:\S+/g)!;
      const expected = addresses.map((it) => `http://${it}:5000/datasensor`);
      assertEquals([...urls], expected);
      const curl = await machine.type(`curl -sSg ${urls.join(" ")}`);
      assertEquals(
        curl.stdout,
        '"Sensor data"'.repeat(urls.length),
        curl.stderr,
      );
    },
  );
}
