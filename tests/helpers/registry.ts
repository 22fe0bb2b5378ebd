// Registries of JSR packages, on loopback.

import { STATUS_TEXT } from "@std/http/status";

const LOG = await Deno.readTextFile(".tools/std/log.ts");

/** What the program uses of each package. */
const MODULES: Record<string, Record<string, string>> = {
  "@std/assert": { ".": "" }, // is downloaded only
  "@std/http": {
    "./status": `export const STATUS_TEXT = ${JSON.stringify(STATUS_TEXT)};`,
  },
  "@std/log": { "./base-handler": LOG, "./logger": LOG },
};

/** The packages of a registry. */
export interface Packages {
  /** Answers with the file at a path, or with 404. */
  readonly answer: (path: string) => Response;
  /** The text of deno.lock, with the integrity of these packages. */
  readonly lock: string;
}

/** Creates packages with the names and versions in deno.lock. */
export async function createPackages(): Promise<Packages> {
  const files = new Map<string, string>();
  const lock = JSON.parse(await Deno.readTextFile("deno.lock"));
  for (const id of Object.keys(lock.jsr)) {
    const [, name, version] = id.match(/(.+)@(.+)/)!;
    const manifest: Record<string, unknown> = {};
    const exports: Record<string, string> = {};
    for (const [entry, text] of Object.entries(MODULES[name!] ?? {})) {
      const path = `/${entry.slice(2) || "mod"}.ts`;
      const checksum = `sha256-${await sha256(text)}`;
      manifest[path] = { size: text.length, checksum };
      exports[entry] = `.${path}`;
      files.set(`/${name}/${version}${path}`, text);
    }
    const meta = JSON.stringify({ manifest, exports });
    lock.jsr[id].integrity = await sha256(meta);
    files.set(`/${name}/${version}_meta.json`, meta);
    const versions = { [version!]: {} };
    files.set(`/${name}/meta.json`, JSON.stringify({ versions }));
  }
  const answer = (path: string) =>
    new Response(files.get(path), { status: files.has(path) ? 200 : 404 });
  return { answer, lock: `${JSON.stringify(lock, null, 2)}\n` };
}

async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A server that answers, and counts the requests. */
export class Registry implements AsyncDisposable {
  requests = 0;
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #stop = new AbortController();

  constructor(answer: (path: string) => Response | Promise<Response>) {
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

/** A server that accepts connections and never answers. */
export class SilentRegistry implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly url = `http://127.0.0.1:${this.#listener.addr.port}/`;

  [Symbol.dispose](): void {
    this.#listener.close();
  }
}
