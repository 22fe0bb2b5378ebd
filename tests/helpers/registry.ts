// JSR registries on loopback.

import { createHash } from "node:crypto";
import { STATUS_TEXT } from "@std/http/status";

/** Answers a request for a path. */
export type Answer = (path: string) => Response | Promise<Response>;

/**
 * Creates packages with the names and versions in deno.lock.
 *
 * @returns `answer`, which serves their files or answers 404, and `lock`, the
 * text of deno.lock with their checksums.
 */
export async function createPackages() {
  const log = await Deno.readTextFile(".tools/std/log.ts");
  const status = `export const STATUS_TEXT = ${JSON.stringify(STATUS_TEXT)};`;
  const modules: Record<string, Record<string, string>> = {
    "@std/assert": { ".": "" }, // only downloaded
    "@std/http": { "./status": status },
    "@std/log": { "./base-handler": log, "./logger": log },
  };
  const files = new Map<string, string>();
  const lock = JSON.parse(await Deno.readTextFile("deno.lock"));
  for (const id of Object.keys(lock.jsr)) {
    const [, name, version] = id.match(/(.+)@(.+)/)!;
    const manifest: Record<string, unknown> = {};
    const exports: Record<string, string> = {};
    for (const [entry, text] of Object.entries(modules[name!] ?? {})) {
      const path = `/${entry.slice(2) || "mod"}.ts`;
      const checksum = `sha256-${sha256(text)}`;
      manifest[path] = { size: text.length, checksum };
      exports[entry] = `.${path}`;
      files.set(`/${name}/${version}${path}`, text);
    }
    const meta = JSON.stringify({ manifest, exports });
    lock.jsr[id].integrity = sha256(meta);
    files.set(`/${name}/${version}_meta.json`, meta);
    const versions = { [version!]: {} };
    files.set(`/${name}/meta.json`, JSON.stringify({ versions }));
  }
  const answer = (path: string) =>
    new Response(files.get(path), { status: files.has(path) ? 200 : 404 });
  return { answer, lock: `${JSON.stringify(lock, null, 2)}\n` };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A server that counts its requests. */
export class Registry implements AsyncDisposable {
  requests = 0;
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #stop = new AbortController();

  constructor(answer: Answer) {
    const { signal } = this.#stop;
    const options = { hostname: "127.0.0.1", port: 0, onListen() {}, signal };
    this.#server = Deno.serve(options, (request) => {
      this.requests++;
      return answer(new URL(request.url).pathname);
    });
    this.url = `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(); // does not wait for clients
    await this.#server.finished;
  }
}
