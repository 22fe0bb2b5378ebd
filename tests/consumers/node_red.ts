// Node-RED with the flow that reads the boards.

import { assertEquals } from "@std/assert";
import { copyExample, fill, listBoards } from "./examples.ts";
import type { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { freePort, get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";

/** Node-RED with the flow, and an empty user folder. */
export class NodeRed extends Process {
  readonly origin: string;

  static async start(folder: Folder, ...boards: string[]): Promise<NodeRed> {
    await listBoards(folder, boards);
    const flow = await copyExample(folder, "node-red.json", { ":5000": "" });
    const command = fill(guide.block(".board/consumers/node-red.json"), {
      ".board/consumers/node-red.json": flow,
    });
    return new NodeRed(folder, command.trim(), freePort());
  }

  private constructor(folder: Folder, command: string, port: number) {
    const flags = `--no-telemetry --userDir ${folder.path} --port ${port}`;
    const options = { cwd: folder.path, killGroup: true };
    super("sh", ["-c", `${command} ${flags}`], options);
    this.origin = `http://127.0.0.1:${port}`;
  }

  /** What the debug node has shown. */
  get readings(): string[] {
    return [...this.stdout.matchAll(/\[debug:reading\] (.*)/g)]
      .map(([, reading]) => reading!);
  }

  /** Runs the flow, as a click on the inject node does. */
  async inject(): Promise<void> {
    const url = `${this.origin}/inject/datasensor-every-5-s`;
    const response = await get(url, { method: "POST" });
    assertEquals(await response.text(), "OK");
  }
}
