// collectd on a host named monitor, which reads the boards.

import { assert } from "@std/assert";
import { copyExample, fill, runCommands, type Values } from "./examples.ts";
import type { Folder } from "../helpers/files.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

/** collectd with an example, on a host named monitor. */
export class Collectd extends Process {
  /**
   * Starts it for the boards that are listed in a folder, with their ports.
   *
   * @param interval Its interval, in seconds.
   */
  static async start(
    folder: Folder,
    example: string,
    { interval = 0.5, values = { ":5000": "" } as Values } = {},
  ): Promise<Collectd> {
    const port = new ReservedPort();
    const file = `${folder.path}/datasensor.conf`;
    const copy = await copyExample(folder, example, {
      ...values,
      "9103": `${port}`,
    });
    const install = fill(consumersGuide.block("/collectd.conf.d/"), {
      "src/board/examples/collectd.conf": copy,
      "sudo tee /etc/collectd/collectd.conf.d/datasensor.conf": `tee ${file}`,
    });
    await runCommands(folder, install);
    const main = `${folder.path}/main.conf`;
    await Deno.writeTextFile(
      main,
      `BaseDir "${folder.path}"
PIDFile "${folder.path}/pid"
Hostname "monitor"
FQDNLookup false
Interval ${interval}
LoadPlugin logfile
<Plugin logfile>
  File "stdout"
</Plugin>
Include "${file}"
`,
    );
    const collectd = new Collectd(port, ["-f", "-C", main]);
    return await collectd.untilReady(async () => {
      await collectd.waitForMatch(/entering read-loop/); // also after an error
      const listening = `Listening on [127.0.0.1]:${port}.`;
      assert(collectd.stdout.includes(listening), collectd.stdout);
    });
  }

  readonly port: number;

  private constructor(port: ReservedPort, args: string[]) {
    super("collectd", args, { owned: [port] });
    this.port = port.number;
  }

  /** Waits until it exports these metrics, given without time stamps. */
  async waitForMetrics(...expected: string[]): Promise<void> {
    const all = expected.join("\n");
    const what = `collectd to export ${all || "nothing"}`;
    await waitFor(what, () => this.metrics(), (metrics) => metrics === all);
  }

  /** Returns what it exports, without time stamps. */
  async metrics(): Promise<string> {
    const lines = await this.#lines();
    return lines.map((line) => line.replace(/ \d+$/, "")).join("\n");
  }

  /** Returns the time stamps of what it exports, in ms since 1970. */
  async times(): Promise<number[]> {
    const lines = await this.#lines();
    return lines.map((line) => Number(line.match(/ (\d+)$/)![1]));
  }

  async #lines(): Promise<string[]> {
    const response = await get(`http://127.0.0.1:${this.port}/metrics`)
      .catch(() => undefined); // it does not listen yet
    const text = await response?.text() ?? "";
    return text.split("\n").filter((line) => /^\w/.test(line));
  }
}
