// A system for tests of the server: a port, connections, memory and a clock. It does what
// Deno and the kernel would do, and records what happens.

import type { System } from "../../../src/system.ts";

/** Why accept fails when file descriptors have run out. */
export const EMFILE = new Error("Too many open files (os error 24)");

/** More timers than a server can wait for: a loop that does not wait would take all memory. */
const TOO_MANY_TIMERS = 100;

type ServeOptions = Deno.ServeTcpOptions & Deno.ServeInit<Deno.NetAddr>;

/** What happens to clients that connect. */
type Fate = "answered" | "waiting" | "refused";

export class FakeSystem {
  /** What has happened to the port and to connections, in order. */
  readonly events: string[] = [];
  /** For how long each has happened to clients that connect, in ms. */
  readonly clients: Record<Fate, number> = {
    answered: 0,
    waiting: 0,
    refused: 0,
  };
  /** What happens to them now. */
  fate: Fate = "refused";
  megabytes = 60;
  /** What they become when all connections are closed, if they are more. */
  idleMegabytes = 60;
  /** How many of these the C library keeps, although they are free, until it is told. */
  keptMegabytes = 0;
  connections = 0;
  /** Whether another program listens on the port. */
  isPortTaken = false;
  /** Why Deno.serve fails, if it does. */
  serveError: Error | undefined;
  /** Whether there is a descriptor for a listener that accepts no connections. */
  canHoldPort = true;
  /** The options of the last Deno.serve. */
  options!: ServeOptions;
  /** How often microtasks have run, and what is called each time. */
  turns = 0;
  onTurn = () => {};
  readonly #timers: { at: number; wake: () => void }[] = [];
  #finished: PromiseWithResolvers<void> | undefined; // once it serves
  #now = 0;
  #acceptsTrims = false;

  readonly system = {
    serve: (options: ServeOptions) => this.#serve(options),
    listen: (options: Deno.TcpListenOptions) => this.#listen(options),
    networkInterfaces: () => [],
    delay: (ms: number) => this.#delay(ms),
    now: () => this.#now,
    wallTime: () => this.#now,
    residentBytes: () => this.megabytes * 1e6,
    acceptTrims: () => this.#acceptsTrims = true,
    trimMemory: () => this.#trim(),
  } as unknown as System;

  #serve(options: ServeOptions) {
    if (this.serveError) throw this.serveError;
    this.#takePort("answered");
    const { hostname, port, signal } = options;
    const open = this.connections ? `, ${this.connections} connections` : "";
    this.events.push(`serve ${hostname}:${port}${open}`);
    this.options = options;
    const finished = this.#finished = Promise.withResolvers<void>();
    let isShutDown = false;
    signal!.onabort = () => {
      this.events.push(isShutDown ? "BadResource" : "close all");
      this.#delay(1).then(() => { // the kernel does it soon
        this.connections = 0;
        this.megabytes = Math.min(this.megabytes, this.idleMegabytes);
      });
      if (this.fate === "answered") this.fate = "refused";
      finished.resolve();
    };
    const shutdown = () => {
      this.events.push("shut down");
      isShutDown = true;
      this.fate = "refused";
      if (this.connections === 0) finished.resolve();
    };
    const addr = { hostname: "127.0.0.1", port: 5000 };
    return { addr, finished: finished.promise, shutdown };
  }

  #listen({ hostname, port, tcpBacklog }: Deno.TcpListenOptions) {
    if (!this.canHoldPort) throw EMFILE;
    this.#takePort("waiting");
    this.events.push(`hold ${hostname}:${port}, backlog ${tcpBacklog}`);
    const release = () => {
      this.events.push("release");
      this.fate = "refused";
    };
    return { [Symbol.dispose]: release };
  }

  #trim() {
    if (!this.#acceptsTrims) throw new Error("The signal ends the process");
    this.#delay(1).then(() => { // on the next turn of the event loop
      this.megabytes -= this.keptMegabytes;
      this.keptMegabytes = 0;
    });
  }

  #takePort(fate: Fate): void {
    const isFree = this.fate === "refused" && !this.isPortTaken;
    if (!isFree) throw new Deno.errors.AddrInUse();
    this.fate = fate;
  }

  #delay(ms: number): Promise<void> {
    if (this.timers === TOO_MANY_TIMERS) throw new Error("Nobody waits");
    return new Promise((wake) =>
      this.#timers.push({ at: this.#now + ms, wake })
    );
  }

  /** The number of timers that are running. */
  get timers(): number {
    return this.#timers.length;
  }

  /** Lets time pass. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    while (true) {
      // Runs what the last timer has woken: no chain of promises is longer
      for (let turn = 0; turn < 20; turn++) {
        this.turns++;
        this.onTurn();
        await null;
      }
      const [next] = this.#timers.sort((a, b) => a.at - b.at);
      const until = Math.min(next?.at ?? end, end);
      this.clients[this.fate] += until - this.#now;
      this.#now = until;
      if (!next || next.at > end) return;
      this.#timers.shift()!.wake();
    }
  }

  /** Makes accept fail, or the server end without a reason. */
  fail(error?: Error): void {
    this.fate = "refused";
    if (error) this.#finished?.reject(error);
    else this.#finished?.resolve();
  }
}
