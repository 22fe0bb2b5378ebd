// What delays a restart: times of a unit in, a delay out. A session in tests/board restarts
// the units.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

const SCRIPT = "src/board/package/usr/lib/datasensor/delay-restart";

/** Programs that stand in for systemd's and for the pause. */
const FAKES = `
systemctl() { case "$*" in *" -P "*) echo "$SERVICE" ;; *) echo "$UNIT" ;; esac; }
sleep() { echo "sleep $*"; }
`;

/** When a unit was started, last became active and ended, and the service was, in s. */
// deno-fmt-ignore -- a row each
const STARTS: [what: string, restarts: number, active: number, ended: number, started: number, delay: string, service?: number][] = [
  ["at boot", 0, 0, 0, 12, ""],
  ["by an operator, after failures", 0, 100, 101, 102, ""],
  ["after a crash", 3, 100, 200, 200.5, ""],
  ["2 s after a sensor ended", 3, 100, 200, 202.1, ""],
  ["after a crash within 10 s", 1, 100, 109, 109.5, "sleep 25\n"],
  ["after a run that ended before another failure", 1, 100, 200, 226, "sleep 25\n"],
  ["if it was never active", 1, 0, 0, 12, "sleep 25\n"],
  ["after the service was, while it waited", 1, 100, 101, 103.1, "", 103],
];

for (
  const [what, restarts, active, ended, started, delay, service = 1] of STARTS
) {
  const waits = delay ? "waits" : "does not wait";
  Deno.test(`delay-restart ${waits} when the unit is started ${what}`, async () => {
    const UNIT = `NRestarts=${restarts}
ActiveEnterTimestampMonotonic=${active * 1e6}
ActiveExitTimestampMonotonic=${ended * 1e6}
InactiveExitTimestampMonotonic=${started * 1e6}`;
    using folder = await Folder.create();
    const script = `${folder.path}/delay-restart`;
    await Deno.writeTextFile(script, FAKES + await Deno.readTextFile(SCRIPT));
    const args = [script, "datasensor", "10", "25"];
    const env = { UNIT, SERVICE: `${service * 1e6}` };
    const { stdout, stderr } = await output("sh", args, { env });
    assertEquals([stdout, stderr], [delay, ""]);
  });
}
