// Prometheus with the example.

import { copyExample, fill, runCommands, type Values } from "./examples.ts";
import type { Folder } from "../helpers/files.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

/** An element of a result of Prometheus. */
interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

/** An element of a result over a time. */
interface Series {
  values: Sample["value"][];
}

/** Runs the page's commands that install what Prometheus needs, but packages. */
async function install(folder: Folder): Promise<void> {
  const commands = fill(consumersGuide.block("sudo apt install prometheus"), {
    "sudo apt install": "echo",
    "sudo cp": "cp",
    "sudo tee": "tee",
    " src/board": ` ${Deno.cwd()}/src/board`,
    "/etc/prometheus": folder.path,
  });
  await runCommands(folder, commands);
}

/** Prometheus with the example. */
export class Prometheus extends Process {
  #origin = "";

  /**
   * Starts it for the boards that are listed in a folder.
   *
   * @param collectd The port of collectd.
   * @param exporter The port of blackbox_exporter.
   * @param interval How often it scrapes.
   * @param evaluation How often it evaluates the rules.
   * @param rules What replaces placeholders in its rules.
   */
  static async start(
    folder: Folder,
    collectd: number,
    exporter: number,
    {
      interval = "500ms",
      evaluation = "500ms",
      rules = { "for: 30s": "for: 0s" } as Values,
    } = {},
  ): Promise<Prometheus> {
    const path = await copyExample(folder, "prometheus.yml", {
      ":5000": "", // the list has their ports
      "127.0.0.1:9103": `127.0.0.1:${collectd}`,
      "127.0.0.1:9115": `127.0.0.1:${exporter}`,
    });
    await install(folder);
    const file = `${folder.path}/datasensor_rules.yml`;
    await Deno.writeTextFile(file, fill(await Deno.readTextFile(file), rules));
    const global =
      `global: {scrape_interval: ${interval}, evaluation_interval: ${evaluation}}\n`;
    const example = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, global + example);
    const prometheus = new Prometheus(folder, path);
    return await prometheus.untilReady(async () => {
      const listening = /"Listening on" address=(\S+)/;
      const [, address] = await prometheus.waitForMatch(listening);
      prometheus.#origin = `http://${address}`;
      await prometheus.waitForMatch(/is ready/);
    });
  }

  private constructor(folder: Folder, path: string) {
    super("prometheus", [
      `--config.file=${path}`,
      `--storage.tsdb.path=${folder.path}/data`,
      "--web.listen-address=127.0.0.1:0",
    ]);
  }

  /** Evaluates an expression. */
  async evaluate(query: string): Promise<Sample[]> {
    return await this.#query(query);
  }

  /** Returns the samples of the last minute of the only series of a selector. */
  async lastMinute(
    selector: string,
  ): Promise<{ time: number; value: number }[]> {
    const series: Series[] = await this.#query(`${selector}[1m]`);
    const samples = series.flatMap(({ values }) => values);
    return samples.map(([time, value]) => ({ time, value: Number(value) }));
  }

  // deno-lint-ignore no-explicit-any -- each kind of query has its own type
  async #query(query: string): Promise<any> {
    const parameters = new URLSearchParams({ query });
    const response = await get(`${this.#origin}/api/v1/query?${parameters}`);
    const { error, data } = await response.json();
    if (error) throw new Error(`Prometheus cannot evaluate ${query}: ${error}`);
    return data.result;
  }

  /** Waits until an expression has a value, or none if it is undefined. */
  async waitForValue(
    query: string,
    value: number | undefined,
    limit?: number,
  ): Promise<void> {
    const read = async () => {
      const [sample] = await this.evaluate(query);
      return { value: sample && Number(sample.value[1]) };
    };
    const isExpected = (last: { value?: number }) =>
      Object.is(last.value, value);
    await waitFor(`${query} to be ${value}`, read, isExpected, { limit });
  }
}
