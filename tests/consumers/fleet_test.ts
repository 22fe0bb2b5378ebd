// Programs read many boards, of which most are hanging, stale or down.

import { assert, assertEquals } from "@std/assert";
import { BlackboxExporter } from "./blackbox_exporter.ts";
import { Collectd } from "./collectd.ts";
import { listBoards } from "./examples.ts";
import { Broker, Loop } from "./mosquitto.ts";
import { NodeRed } from "./node_red.ts";
import { Prometheus } from "./prometheus.ts";
import { Folder } from "../helpers/files.ts";
import {
  missingAddress,
  missingNamespaces,
  needs,
} from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import { delay } from "../helpers/wait.ts";

/**
 * How long the alerts may take to fire, in ms: an interval of Prometheus until a board
 * is probed, a time-out, the 30 s of the rule, and intervals until it is evaluated.
 */
const ALERT_LIMIT_MS = 120_000;

/** For how long the ages are measured then, in seconds: two intervals of Prometheus. */
const DURATION = 30;

/** How old a live board's reading may be, in seconds. */
const AGE_LIMITS = {
  collectd: 20,
  prometheus: 30,
  nodeRed: 20,
  mosquitto: 20,
};

/** A fleet of boards. */
class Fleet implements AsyncDisposable {
  readonly live: string[] = [];
  readonly missing: string[] = [];
  readonly #stack = new AsyncDisposableStack();
  #addresses = 1;

  /** Adds the service, whose sensor prints lines. */
  async addService(boards: string[], sensor: string): Promise<void> {
    const script = `{ ${sensor}; } | exec "$@"`;
    const wrap = ["sh", "-c", script, "sh"];
    const flags = ["--stdin", "--json", "--max-age", "15"];
    const options = { wrap, killGroup: true };
    const program = this.#stack.use(await Program.start(flags, options));
    boards.push(`127.0.0.1:${program.port}`);
  }

  /** Adds a stand-in. */
  addServer(boards: string[], answer: () => Response): void {
    const options = { hostname: this.#address(), port: 0, onListen() {} };
    const { addr } = this.#stack.use(Deno.serve(options, answer));
    boards.push(`${addr.hostname}:${addr.port}`);
  }

  /** Adds a board that accepts connections and never answers. */
  addHanging(): void {
    const options = { hostname: this.#address(), port: 0 };
    const { addr } = this.#stack.use(Deno.listen(options));
    this.missing.push(`${addr.hostname}:${addr.port}`);
  }

  /** Adds a board that refuses connections. */
  addRefusing(): void {
    this.missing.push(`${this.#address()}:${freePort()}`);
  }

  #address(): string {
    return `127.0.0.${++this.#addresses}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Returns the age of a live board's youngest reading in a text, in seconds. */
function youngest(text: string, board: number): number {
  const times = text.matchAll(RegExp(`\\b(\\d{10})\\.${board}\\b`, "g"));
  return Date.now() / 1000 - Math.max(...Array.from(times, ([time]) => +time));
}

Deno.test(
  "the examples keep reading 4 live boards of 20, and alert for the others",
  needs(
    "collectd",
    "curl",
    "mosquitto",
    "mosquitto_pub",
    "node-red",
    "prometheus",
    "prometheus-blackbox-exporter",
    "stdbuf",
    missingNamespaces(),
    missingAddress("127.0.0.2"),
  ),
  async () => {
    using folder = await Folder.create();
    await using fleet = new Fleet();
    // A live board's reading is the time, and its number after the point
    for (const board of [1, 2]) {
      const sensor = `while date +%s.${board}; do sleep 1; done`;
      await fleet.addService(fleet.live, sensor);
    }
    await fleet.addService(fleet.missing, "echo 1"); // and ends
    for (const board of [3, 4]) {
      const time = () => `${Math.floor(Date.now() / 1000)}.${board}`;
      fleet.addServer(fleet.live, () => new Response(time()));
    }
    const stale = { status: 503 };
    fleet.addServer(fleet.missing, () => Response.json(stale, stale));
    for (let count = 0; count < 12; count++) fleet.addHanging();
    for (let count = 0; count < 2; count++) fleet.addRefusing();
    const boards = [...fleet.missing, ...fleet.live];
    assertEquals(boards.length, 20);

    await listBoards(folder, boards);
    const example = "collectd.conf";
    const asInDebian = { interval: 10 };
    await using collectd = await Collectd.start(folder, example, asInDebian);
    await using exporter = await BlackboxExporter.start(folder);
    await using prometheus = await Prometheus.start(
      folder,
      collectd.port,
      exporter.port,
      { interval: "15s", rules: {} }, // as in Debian
    );
    await using nodeRed = await NodeRed.start(folder, ...boards);
    await using broker = await Broker.start();
    await using subscriber = await broker.subscribe();
    await using _loops = await Loop.start(broker, boards, 5);

    const start = performance.now();
    const fired = 'ALERTS{alertstate="firing"}';
    const expected = fleet.missing
      .map((board) => `DatasensorReadingMissing ${board}`).toSorted();
    const listAlerts = async (query: string) =>
      (await prometheus.evaluate(query))
        .map(({ metric }) => `${metric.alertname} ${metric.instance}`)
        .toSorted();
    await prometheus.waitFor(
      async () => (await listAlerts(fired)).length >= expected.length,
      ALERT_LIMIT_MS,
    );

    const oldest = new Map<string, number>();
    for (let second = 0; second < DURATION; second++) {
      await delay(1000);
      const readings = await prometheus.evaluate("collectd_curl_gauge");
      const texts = {
        collectd: await collectd.metrics(),
        prometheus: JSON.stringify(readings.map(({ value }) => value[1])),
        nodeRed: nodeRed.stdout,
        mosquitto: subscriber.stdout,
      };
      for (const [program, text] of Object.entries(texts)) {
        for (const board of [1, 2, 3, 4]) {
          const age = Math.max(youngest(text, board), oldest.get(program) ?? 0);
          oldest.set(program, age);
        }
      }
    }

    for (const [program, limit] of Object.entries(AGE_LIMITS)) {
      const age = oldest.get(program)!;
      assert(age <= limit, `${program}: ${age} s`);
    }
    assertEquals(await listAlerts(fired), expected);
    const all = `count_over_time(${fired}[5m])`; // even if they have ended
    assertEquals(await listAlerts(all), expected);
    // Every 5 s, of which one is in flight. By default, Node-RED waits for two minutes
    const rounds = (performance.now() - start) / 5000;
    const timeouts = nodeRed.stdout.match(/no response from server/g) ?? [];
    assert(timeouts.length > 12 * rounds / 2, `${timeouts.length} time-outs`);
  },
);
