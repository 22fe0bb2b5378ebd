// blackbox_exporter on a host that knows the board by name.

import { copyExample, type Values } from "./examples.ts";
import type { Folder } from "../helpers/files.ts";
import { missingCommand, missingNamespaces } from "../helpers/needs.ts";
import { get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";

/** Tells whether it is installed, and can run. */
export function missingBlackboxExporter(): string | undefined {
  return missingCommand("prometheus-blackbox-exporter") ?? missingNamespaces();
}

/** The board also has an IPv6 address. */
const HOSTS = "::1 BOARD\n127.0.0.1 BOARD localhost\n";

/** blackbox_exporter with the example. */
export class BlackboxExporter extends Process {
  /**
   * Starts it.
   *
   * @param port By default, any that is free.
   * @param values What replaces placeholders in the example.
   * @param margin How long before Prometheus' time-out it answers, in s.
   */
  static async start(
    folder: Folder,
    { port = 0, values = {} as Values, margin = 0.1 } = {},
  ): Promise<BlackboxExporter> {
    const hosts = `${folder.path}/hosts`;
    await Deno.writeTextFile(hosts, HOSTS);
    const file = await copyExample(folder, "blackbox_exporter.yml", values);
    const exporter = new BlackboxExporter(hosts, file, port, margin);
    return await exporter.untilReady(async () => {
      const listening = /"Listening on" address=\S+:(\d+)/;
      const [, listensOn] = await exporter.waitForMatch(listening);
      exporter.port = Number(listensOn);
    });
  }

  private constructor(
    hosts: string,
    file: string,
    public port: number,
    margin: number,
  ) {
    super("unshare", [
      "--mount",
      "sh",
      "-c",
      'mount --bind "$0" /etc/hosts && exec "$@"',
      hosts,
      "prometheus-blackbox-exporter",
      `--config.file=${file}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--timeout-offset=${margin}`,
    ]);
  }

  /** Probes a board, and returns the metrics by name. */
  async probe(origin: string): Promise<Map<string, number>> {
    const target = `${origin}/datasensor`;
    const query = new URLSearchParams({ module: "datasensor", target });
    const url = `http://127.0.0.1:${this.port}/probe?${query}`;
    const response = await get(url);
    const metrics = await response.text();
    if (!response.ok) throw new Error(`${url} answers ${metrics}`);
    return new Map(
      [...metrics.matchAll(/^(\w+) (\S+)$/gm)]
        .map(([, name, value]) => [name!, Number(value)]),
    );
  }
}
