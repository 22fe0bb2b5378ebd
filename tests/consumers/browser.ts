// Opens pages in a headless browser.

import { Folder } from "../helpers/files.ts";
import { get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { waitFor, within } from "../helpers/wait.ts";

/** What can be seen through the DevTools protocol. */
interface Target {
  type: string;
  webSocketDebuggerUrl: string;
}

/** A page in Chromium, seen through its DevTools protocol. */
export class Page extends Process {
  #socket!: WebSocket;
  #commands = 0;

  /** Opens a page, and waits until it is loaded. */
  static async open(url: string): Promise<Page> {
    const page = new Page(url, await Folder.create());
    return await page.untilReady(async () => {
      await page.#connect();
      const isLoaded = 'location != "about:blank" && document.readyState';
      await page.waitForValue(isLoaded, "complete");
    });
  }

  private constructor(url: string, folder: Folder) {
    super("chromium", [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      `--user-data-dir=${folder.path}`,
      "--remote-debugging-port=0",
      url,
    ], { killGroup: true, owned: [folder] });
  }

  async #connect(): Promise<void> {
    const address = /DevTools listening on ws:\/\/(.*?)\//;
    const [, host] = await this.waitForMatch(address);
    const find = async () => {
      const response = await get(`http://${host}/json`);
      const targets: Target[] = await response.json();
      return targets.find(({ type }) => type === "page")?.webSocketDebuggerUrl;
    };
    const url = await waitFor("a page in Chromium", find);
    const { promise: opened, resolve, reject } = Promise.withResolvers();
    this.#socket = new WebSocket(url!);
    this.#socket.onopen = resolve;
    this.#socket.onerror = reject;
    await within(opened, () => `a connection to ${url}`);
  }

  /** Runs a command of the DevTools protocol, and returns its response. */
  // deno-lint-ignore no-explicit-any -- each command has its own type
  async run(method: string, params = {}): Promise<any> {
    const id = ++this.#commands;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const listen = ({ data }: MessageEvent) => {
      const response = JSON.parse(data);
      if (response.id === id) resolve(response);
    };
    this.#socket.addEventListener("message", listen);
    this.#socket.send(JSON.stringify({ id, method, params }));
    try {
      return await within(promise, () => `a response to ${method}`);
    } finally {
      this.#socket.removeEventListener("message", listen);
    }
  }

  /** Runs a script in each document that is opened from now on, before its own. */
  async runFirst(source: string): Promise<void> {
    await this.run("Page.enable"); // or the script would not run
    await this.run("Page.addScriptToEvaluateOnNewDocument", { source });
  }

  /** Waits until an expression has a value in the page. */
  async waitForValue(expression: string, expected: unknown): Promise<void> {
    const params = { expression, returnByValue: true };
    const text = JSON.stringify(expected);
    const read = async () => {
      const response = await this.run("Runtime.evaluate", params);
      // None while the page is loading
      return `${JSON.stringify(response.result?.result.value)}`;
    };
    await waitFor(`${expression} to be ${text}`, read, (it) => it === text);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    try {
      // If it is killed, it leaves files behind
      this.#socket?.send('{"id":0,"method":"Browser.close"}');
      if (this.#socket) await this.waitForEnd();
    } finally {
      await super[Symbol.asyncDispose]();
    }
  }
}
