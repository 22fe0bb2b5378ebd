// Prometheus with the page's job and rules.

import { assertEquals } from "@std/assert";
import { fill, type Values } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { readersPage } from "../helpers/guide.ts";
import { get } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

/** The page's entries for `prometheus.yml`. */
export const CONFIG = readersPage.block("job_name: datasensor");

/** The page's commands that install and check it. */
const COMMANDS = readersPage.block("apt install prometheus\n") +
  readersPage.block("promtool check config");

/** Returns lines of the page as they fit into the job. */
export function indent(lines: string): string {
  return lines.trim().replaceAll("\n", "\n    ");
}

/** Prometheus in a folder instead of `/etc/prometheus`. */
export class Prometheus extends Process {
  #origin = "";

  /** Follows the page, and starts it with short intervals and changed rules. */
  static async start(
    config: string,
    { rules = {} as Values } = {},
  ): Promise<Prometheus> {
    const folder = await Folder.create();
    const { path } = folder;
    const file = `${path}/prometheus.yml`;
    const intervals = "{ scrape_interval: 500ms, evaluation_interval: 500ms }";
    await Deno.writeTextFile(file, `global: ${intervals}\n${config}`);
    const commands = fill(COMMANDS, {
      "sudo apt install": "command -v",
      "sudo cp": "cp",
      "sudo nano": "test -w",
      "sudo systemctl restart": "command -v",
      "/etc/prometheus": path,
    });
    const { code, stdout, stderr } = await output("sh", ["-ec", commands]);
    assertEquals(code, 0, stdout + stderr);
    const rulesFile = `${path}/datasensor_rules.yml`;
    const changed = fill(await Deno.readTextFile(rulesFile), rules);
    await Deno.writeTextFile(rulesFile, changed);
    const prometheus = new Prometheus("prometheus", [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path}/data`,
      "--web.listen-address=127.0.0.1:0",
    ], { owned: [folder] });
    return await prometheus.untilReady(async () => {
      const listening = /"Listening on" address=(\S+)/;
      const [, address] = await prometheus.waitForMatch(listening);
      prometheus.#origin = `http://${address}`;
      await prometheus.waitForMatch(/is ready/);
    });
  }

  /** Fetches from it. */
  async fetch(path: string): Promise<Response> {
    return await get(this.#origin + path);
  }

  /** Waits until the results of an expression are as expected, each as a text. */
  async waitFor(
    query: string,
    expected: (number | string)[],
    format = (_labels: Record<string, string>, value: string) => value,
  ): Promise<void> {
    const path = `/api/v1/query?${new URLSearchParams({ query })}`;
    const read = async (): Promise<string[]> => {
      const { error, data } = await (await this.fetch(path)).json();
      if (error) throw new Error(`${query}: ${error}`);
      return data.result.map((
        { metric, value }: {
          metric: Record<string, string>;
          value: [number, string];
        },
      ) => format(metric, value[1]));
    };
    const sort = (values: (number | string)[]) => values.toSorted().join();
    const what = `${query} to be ${sort(expected) || "nothing"}`;
    const isExpected = (found: string[]) => sort(found) === sort(expected);
    await waitFor(what, read, isExpected, { pause: 50 });
  }
}
