// Where the @std packages come from on each kind of network, at the first start and
// later.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, PROXIES } from "../helpers/process.ts";

const NOTICE = "The first start downloads packages from jsr.io\n";
const FALLBACK =
  "jsr.io cannot be reached: the packages come from npm instead. There is nothing to do\n";

const CACHE = ["cache", "--quiet", ".tools/std/packages.ts"];
const START = ["task", "-q", "start", "--version"];

/** A server on loopback. */
class Server implements AsyncDisposable {
  /** How many requests it has received. */
  requests = 0;
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** Uses HTTPS if it gets a certificate. */
  constructor(
    answer: (path: string) => Response,
    certificate?: Deno.TlsCertifiedKeyPem,
  ) {
    const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve({ ...address, ...certificate }, ({ url }) => {
      this.requests++;
      return answer(new URL(url).pathname);
    });
    const scheme = certificate ? "https" : "http";
    this.url = `${scheme}://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const notFound = () => new Response(null, { status: 404 });

/** A copy of the project, and a cache of Deno, which is empty at first. */
class Machine implements Disposable {
  private constructor(readonly project: Folder, readonly cache: Folder) {}

  static async create(): Promise<Machine> {
    return new Machine(await Folder.ofProject(), await Folder.create());
  }

  /** Runs Deno, which reaches npm. */
  async run(args: string[], env: Record<string, string>) {
    const DENO_DIR = this.cache.path;
    const options = {
      cwd: this.project.path,
      env: { ...PROXIES, NO_PROXY: "127.0.0.1", DENO_DIR, ...env },
      killGroup: true,
    };
    // Deno would look for updates
    const command = ["-u", "DENO_NO_UPDATE_CHECK", Deno.execPath(), ...args];
    return await output("env", command, options);
  }

  /** Runs Deno, and asserts that it contacts no host but loopback. */
  async runAlone(args: string[], env: Record<string, string>) {
    await using proxy = new Server(notFound);
    const proxies = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    const result = await this.run(args, { ...env, ...proxies });
    assertEquals(proxy.requests, 0, "Another host was contacted");
    return result;
  }

  [Symbol.dispose](): void {
    this.project.remove();
    this.cache.remove();
  }
}

/** Packages with just enough for the service to start, by name and version. */
const PACKAGES: Record<string, Record<string, string>> = {
  "assert/1.0.19": { ".": "export {};" },
  "http/1.1.0": { "./status": "export const STATUS_TEXT = {};" },
  "log/0.224.14": {
    "./base-handler": "export class BaseHandler {}",
    "./logger": "export class Logger {}",
  },
};

/** Returns the files of a registry with these packages, by path. */
async function createRegistry(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [release, modules] of Object.entries(PACKAGES)) {
    const [name, version] = release.split("/");
    const exports: Record<string, string> = {};
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const [entry, code] of Object.entries(modules)) {
      const file = `${entry}/mod.ts`;
      exports[entry] = file;
      const bytes = new TextEncoder().encode(code);
      const digest = await crypto.subtle.digest("SHA-256", bytes);
      const checksum = `sha256-${new Uint8Array(digest).toHex()}`;
      manifest[file.slice(1)] = { size: bytes.length, checksum };
      files.set(`/@std/${release}${file.slice(1)}`, code);
    }
    const versions = { [version!]: {} };
    const meta = { exports, manifest };
    files.set(`/@std/${name}/meta.json`, JSON.stringify({ versions }));
    files.set(`/@std/${release}_meta.json`, JSON.stringify(meta));
  }
  return files;
}

const REGISTRY = await createRegistry();

/** Answers as JSR does, but with those packages. */
function answerAsJsr(path: string): Response {
  const text = REGISTRY.get(path);
  return text === undefined ? notFound() : new Response(text);
}

/** Makes a machine's lock file one for the packages of a registry. */
async function lock(machine: Machine, JSR_URL: string): Promise<void> {
  using cache = await Folder.create();
  await Deno.remove(`${machine.project.path}/deno.lock`);
  const env = { JSR_URL, DENO_DIR: cache.path };
  const args = [...CACHE, "--frozen=false"];
  const { code, stderr } = await machine.runAlone(args, env);
  assertEquals(code, 0, stderr);
}

/** Tells what is missing to download the substitutes. */
async function missingNpm(): Promise<string | undefined> {
  using machine = await Machine.create();
  const { code } = await machine.run([
    "cache",
    "--no-lock",
    "npm:deno-std@1.4.0",
  ], {});
  return code === 0 ? undefined : "connect to npm";
}

const withNpm = needs({ missing: [await missingNpm()] });

Deno.test(
  "where JSR cannot be reached, the first start downloads substitutes, and the next one needs no network",
  withNpm,
  async () => {
    using machine = await Machine.create();
    {
      using nobody = new ReservedPort();
      const env = { JSR_URL: `http://127.0.0.1:${nobody}/` };
      const { code, stderr } = await machine.run(START, env);
      assertEquals([code, stderr], [0, FALLBACK]);
    }
    await using jsr = new Server(notFound);
    const env = { JSR_URL: jsr.url };
    const { code, stderr } = await machine.runAlone(START, env);
    assertEquals([code, stderr, jsr.requests], [0, "", 0]);
  },
);

Deno.test("the first start downloads JSR's packages, and the next one needs no network", async () => {
  await using jsr = new Server(answerAsJsr);
  const env = { JSR_URL: jsr.url };
  using machine = await Machine.create();
  await lock(machine, jsr.url);
  const first = await machine.runAlone(START, env);
  assertEquals([first.code, first.stderr], [0, NOTICE]);
  const { requests } = jsr;
  const next = await machine.runAlone(START, env);
  assertEquals([next.code, next.stderr, jsr.requests], [0, "", requests]);
});

Deno.test("a modified package of JSR is an error", async () => {
  const meta = { exports: { "./status": "./mod.ts" }, manifest: {} };
  const versions = { "1.0.19": {}, "1.1.0": {}, "0.224.14": {} };
  await using jsr = new Server((path) =>
    Response.json(path.endsWith("/meta.json") ? { versions } : meta)
  );
  using machine = await Machine.create();
  const env = { JSR_URL: jsr.url };
  const { code, stderr } = await machine.runAlone(START, env);
  assert(code !== 0 && !stderr.includes(FALLBACK), stderr);
  assertMatch(stderr, /@std\/(http|log)/);
});

/** Returns a certificate for loopback that nobody trusts, as that of a company's proxy. */
async function createCertificate(): Promise<Deno.TlsCertifiedKeyPem> {
  using folder = await Folder.create();
  const script = `cd "$0"; openssl req -x509 -newkey rsa:2048 -nodes -days 1 \\
    -subj /CN=company -addext subjectAltName=IP:127.0.0.1 -keyout key -out cert`;
  await output("sh", ["-ec", script, folder.path]);
  const read = (name: string) => Deno.readTextFile(`${folder.path}/${name}`);
  return { key: await read("key"), cert: await read("cert") };
}

Deno.test(
  "where npm's package is modified, or npm is not trusted either, the first start ends with a sentence",
  needs({ commands: ["openssl"] }),
  async () => {
    await using npm = new Server(() => new Response("wrong"));
    await using proxy = new Server(notFound, await createCertificate());
    for (
      const [url, reason] of [
        [npm.url, /checksum/],
        [proxy.url, / certificate.*; set DENO_TLS_CA_STORE=system to trust/],
      ] as const
    ) {
      using machine = await Machine.create();
      const env = { JSR_URL: proxy.url, NPM_CONFIG_REGISTRY: url };
      const { code, stdout, stderr } = await machine.runAlone(START, env);
      assertEquals([code, stdout], [1, ""]);
      const last = stderr.trim().split("\n").at(-1)!;
      assertMatch(last, /^The first start needs jsr.io or npm, to download/);
      assertMatch(last, reason);
    }
  },
);
