// The whole program in this process, on a system of a test.

import { assert, assertEquals } from "@std/assert";
import { PAGE_POLICY } from "../../src/page/page.ts";
import { runProgram } from "../../src/program.ts";
import type { System } from "../../src/system.ts";
import { parseAccessLine } from "../helpers/program.ts";
import type { Chunk } from "./test_input.ts";
import { FakeSystem } from "./fake_system.ts";

const METHODS = "GET, HEAD, OPTIONS";
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Date",
};
const PREFLIGHT = {
  "access-control-allow-methods": METHODS,
  "access-control-allow-headers": "*",
};

/** The header fields of answers that are no JSON, by their paths. */
const TYPES: Record<string, Record<string, string>> = {
  "/": {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": PAGE_POLICY,
  },
  "/metrics": { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
  "/history": { "content-type": "text/csv; charset=utf-8; header=present" },
};

const TITLES: Record<number, string> = {
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** For how long a sensor prints nothing, in ms. */
export type Pause = number;

/** A request with a URL as Deno.serve passes it on: a Request would normalize it. */
export class RawRequest extends Request {
  constructor(private readonly rawUrl: string, method: string) {
    const [, host] = rawUrl.match(/^http:\/\/([^/]*)/)!;
    super("http://board/", { method, headers: { host: host! } });
  }

  override get url(): string {
    return this.rawUrl;
  }
}

/** The program, which runs until it is stopped. */
export class Service extends FakeSystem {
  /** Its exit code, once it has ended. */
  code: number | undefined;
  readonly #asked: string[] = []; // what must be logged of ask()
  /** When the reading of the last answer arrived, as its header has it. */
  modified: string | null = null;

  /** @param flags The command line, with a space between two arguments. */
  constructor(private readonly flags = "", changes: Partial<FakeSystem> = {}) {
    super();
    Object.assign(this, changes);
    const args = flags.split(" ").filter(Boolean);
    const system = this as unknown as System;
    runProgram(args, system).then((code) => this.code = code);
  }

  /** The lines that it has written by now, apart from its start. */
  get lines(): string[] {
    const start = /^( \* |Press CTRL\+C|datasensor \S+ \(Deno)/;
    return this.written.flatMap((text) =>
      text.replace(/^\w+: /, "").trimEnd().split("\n")
    ).filter((line) => !start.test(line));
  }

  /** These lines, apart from those of requests. */
  get messages(): string[] {
    return this.lines.filter((line) => !parseAccessLine(line));
  }

  /** Prints as a sensor does, and lets time pass at each pause. */
  async send(...chunks: (Chunk | Pause)[]): Promise<void> {
    for (const chunk of chunks) {
      await this.pass(typeof chunk === "number" ? chunk : 0);
      if (typeof chunk === "number") continue;
      for (let ms = 0; !this.input.isAwaited; ms++) { // it rests
        assert(ms < 1000, "It does not read any more");
        await this.pass(1);
      }
      this.input.push(chunk);
      await this.pass(0);
    }
  }

  /** Passes a request on, as Deno.serve does. */
  handle(request: Request, hostname = "192.0.2.7"): Response {
    const remoteAddr = { transport: "tcp", hostname, port: 5001 } as const;
    const completed = Promise.resolve();
    return this.options.handler(request, { remoteAddr, completed }) as Response;
  }

  /**
   * Returns the status and the body of an answer, or the reason in it. Asserts all its header
   * fields, and that HEAD is answered with the same ones.
   *
   * @param target What stands before its first slash belongs to the Host field.
   */
  async ask(
    target = "/datasensor",
    method = "GET",
    RequestType = RawRequest,
  ): Promise<string> {
    const url = `http://board${target}`;
    const response = this.handle(new RequestType(url, method));
    const { status } = response;
    const logged = `192.0.2.7 ${method} ${status === 400 ? "-" : target}`;
    this.#asked.push(`${logged} ${status}`);
    const body = await response.text();
    const { "last-modified": modified = null, ...fields } = Object.fromEntries(
      response.headers,
    );
    this.modified = modified;
    assertEquals(fields, this.#expectFields(status, target, body));
    const isOfSensor = fields["content-type"] === "application/json" &&
      this.flags.includes("--stdin") && target !== "/sensors";
    assertEquals(modified !== null, isOfSensor);
    if (method === "GET") {
      const head = this.handle(new RequestType(url, "HEAD"));
      this.#asked.push(this.#asked.at(-1)!.replace("GET", "HEAD"));
      assertEquals([head.status, await head.text()], [status, ""]);
      assertEquals([...head.headers], [...response.headers]);
    }
    if (status < 400) return `${status} ${body}`.trimEnd();
    const { detail, ...others } = JSON.parse(body);
    const title = TITLES[status];
    assertEquals(others, { type: "about:blank", title, status });
    return `${status} ${detail}`;
  }

  /** Returns the header fields of an answer, apart from Last-Modified. */
  #expectFields(status: number, target: string, body: string) {
    const isCors = this.flags.includes("--cors");
    const isEmpty = status === 204;
    const type = TYPES[target] ?? { "content-type": "application/json" };
    const problem = { "content-type": "application/problem+json" };
    const length = `${new TextEncoder().encode(body).length}`;
    return {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      date: new Date(this.wallMs).toUTCString(),
      ...isCors && CORS,
      ...isCors && isEmpty && PREFLIGHT,
      ...(isEmpty || status === 405) && { allow: METHODS },
      ...!isEmpty && { "content-length": length },
      ...!isEmpty && (status < 400 ? type : problem),
    };
  }

  /** Stops it, and returns its exit code. Asserts that the requests of ask() are logged. */
  async stop(): Promise<number> {
    await this.pass(0);
    this.stopper.abort();
    const code = await this.end();
    const logged = this.lines.flatMap((line) => parseAccessLine(line) ?? []);
    if (this.#asked.length > 0) assertEquals(logged, this.#asked);
    return code;
  }

  /** Waits until it has ended, and returns its exit code. */
  async end(): Promise<number> {
    for (let ms = 0; this.code === undefined && ms < 60_000; ms += 100) {
      await this.pass(ms === 0 ? 0 : 100);
    }
    assert(this.code !== undefined, "It has not ended");
    return this.code;
  }
}
