// GoAccess counts the requests of an access log.

import { assert, assertEquals } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { copyExample, fill } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { needs } from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";

Deno.test(
  "the guide's goaccess command counts requests by status, client, day and hour",
  needs("goaccess"),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start();
    const { program } = board;
    await board.say("21.5");
    await board.becomeStale();
    await (await get(`${program.url}/elsewhere?"quoted"`)).body?.cancel();
    await board.goDown();
    const log = `${folder.path}/log`;
    await Deno.writeTextFile(log, program.stdout);

    const report = `${folder.path}/report.html`;
    const command = fill(guide.block("ssh BOARD journalctl"), {
      "ssh BOARD journalctl -u datasensor -o cat": `cat ${log}`,
      ".board/consumers/goaccess.conf": //
        await copyExample(folder, "goaccess.conf", {}),
      "report.html": report,
    });
    const { code, stderr } = await output("sh", ["-ec", command]);
    assertEquals(code, 0, stderr);

    const html = await Deno.readTextFile(report);
    const [, json] = html.match(/json_data=(\{.*?\})<\/script>/s)!;
    const { general, hosts, visit_time, status_codes } = JSON.parse(json!);
    const { requests } = program;
    const { client, date, hour } = requests[0]!;
    assertEquals(general.valid_requests, requests.length);
    assertEquals(general.failed_requests, 0);
    assertEquals(general.start_date, date);
    assertEquals(hosts.data[0].data, client);
    const { data: hours }: Panel = visit_time;
    assert(hours.some(({ data }) => data === hour), JSON.stringify(hours));
    for (const status of ["200", "404", "503"]) {
      const logged = requests.filter((request) => request.status === status);
      assertEquals(countStatus(status_codes, status), logged.length, status);
    }
  },
);

interface Panel {
  data: { data: string; hits: { count: number }; items?: Panel["data"] }[];
}

/** Returns how many responses with a status a panel of the report counts. */
function countStatus(panel: Panel, status: string): number | undefined {
  const rows = panel.data.flatMap(({ items = [] }) => items);
  return rows.find(({ data }) => data.startsWith(status))?.hits.count;
}
