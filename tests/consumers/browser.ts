// Opens pages in a headless browser.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { get } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { within } from "../helpers/wait.ts";

/** What can be seen through the DevTools protocol. */
interface Target {
  type: string;
  webSocketDebuggerUrl: string;
}

/** A page in Chromium, seen through its DevTools protocol. */
export class Page extends Process {
  readonly #folder: Folder;
  #socket!: WebSocket;
  #commands = 0;

  /** Opens a page, and waits until it is loaded. */
  static async open(url: string): Promise<Page> {
    await using stack = new AsyncDisposableStack();
    const page = stack.use(new Page(url, await Folder.create()));
    await page.#connect();
    const isLoaded = 'location != "about:blank" && document.readyState';
    await page.waitForValue(isLoaded, "complete");
    stack.move(); // the caller disposes of it
    return page;
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
    ], { killGroup: true });
    this.#folder = folder;
  }

  async #connect(): Promise<void> {
    const address = /DevTools listening on ws:\/\/(.*?)\//;
    await this.waitFor(() => address.test(this.stderr));
    const [, host] = this.stderr.match(address)!;
    let url: string | undefined;
    await this.waitFor(async () => {
      const response = await get(`http://${host}/json`);
      const targets: Target[] = await response.json();
      url = targets.find(({ type }) => type === "page")?.webSocketDebuggerUrl;
      return url !== undefined;
    });
    const { promise: opened, resolve, reject } = Promise.withResolvers();
    this.#socket = new WebSocket(url!);
    this.#socket.onopen = resolve;
    this.#socket.onerror = reject;
    await within(opened, () => `no connection to ${url}`);
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
      return await within(promise, () => `no response to ${method}`);
    } finally {
      this.#socket.removeEventListener("message", listen);
    }
  }

  /** Waits until an expression has a value in the page. */
  async waitForValue(expression: string, expected: unknown): Promise<void> {
    let value: unknown;
    const params = { expression, returnByValue: true };
    await this.waitFor(async () => {
      const response = await this.run("Runtime.evaluate", params);
      value = response.result?.result.value; // none while the page is loading
      return JSON.stringify(value) === JSON.stringify(expected);
    }).catch((error) => assertEquals(value, expected, `${error}`));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    try {
      // If it is killed, it leaves files behind
      this.#socket?.send('{"id":0,"method":"Browser.close"}');
      if (this.#socket) await this.waitForEnd();
    } finally {
      await super[Symbol.asyncDispose]();
      this.#folder.remove();
    }
  }
}
