// Node-RED with the flow that reads the boards.

import { assertEquals } from "@std/assert";
import { copyExample, fill, listBoards } from "./examples.ts";
import type { Folder } from "../helpers/files.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";

/** Node-RED with the flow, and an empty user folder. It has shown that it runs the flow. */
export class NodeRed extends Process {
  #origin = "";

  static async start(folder: Folder, ...boards: string[]): Promise<NodeRed> {
    await listBoards(folder, boards);
    const flow = await copyExample(folder, "node-red.json", { ":5000": "" });
    const command = fill(
      consumersGuide.block("src/board/examples/node-red.json"),
      {
        "src/board/examples/node-red.json": flow,
      },
    );
    const nodeRed = new NodeRed(folder, command.trim());
    return await nodeRed.untilReady(async () => {
      const running = /Server now running at (http:\S+?)\/\n/;
      nodeRed.#origin = (await nodeRed.waitForMatch(running))[1]!;
      await nodeRed.waitForMatch(/Started flows/);
    });
  }

  private constructor(folder: Folder, command: string) {
    const flags = `--no-telemetry --userDir ${folder.path} --port 0`;
    const options = { cwd: folder.path, killGroup: true };
    super("sh", ["-c", `${command} ${flags}`], options);
  }

  /** What the debug node has shown. */
  get readings(): string[] {
    return [...this.stdout.matchAll(/\[debug:reading\] (.*)/g)]
      .map(([, reading]) => reading!);
  }

  /** Runs the flow, as a click on the inject node does. */
  async inject(): Promise<void> {
    const url = `${this.#origin}/inject/datasensor-every-5-s`;
    const response = await get(url, { method: "POST" });
    assertEquals(await response.text(), "OK");
  }
}
