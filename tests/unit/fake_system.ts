// A system for tests: streams, signals, a port, connections, memory and a clock. It does what
// Deno and the kernel would do, and records what happens.

import { TestClock } from "./test_clock.ts";
import { TestInput } from "./test_input.ts";

/** Why accept fails when file descriptors have run out. */
export const EMFILE = new Error("Too many open files (os error 24)");

type ServeOptions = Deno.ServeTcpOptions & Deno.ServeInit<Deno.NetAddr>;

/** What happens to clients that connect. */
type Fate = "answered" | "waiting" | "refused";

const INTERFACES = [
  { family: "IPv4", address: "127.0.0.1", scopeid: 0 },
  { family: "IPv4", address: "192.0.2.7", scopeid: 0 },
  { family: "IPv6", address: "::1", scopeid: 0 },
  { family: "IPv4", address: "127.0.0.2", scopeid: 0 },
  { family: "IPv6", address: "2001:db8::7", scopeid: 0 },
  { family: "IPv6", address: "fe80::7", scopeid: 2 }, // link-local
];

export class FakeSystem extends TestClock {
  readonly input = new TestInput();
  /** What was written, after the name of the stream. */
  readonly written: string[] = [];
  isInputTerminal = false;
  isTerminal = false; // standard output; standard error is the opposite
  noColor = false;
  write = ({ length }: Uint8Array): Promise<number> => Promise.resolve(length);
  /** Aborted by a signal, and by an uncaught error. */
  readonly stopper = new AbortController();
  readonly uncaught = new AbortController();

  /** What has happened to the port and to connections, in order. */
  readonly events: string[] = [];
  /** For how long each has happened to clients that connect, in ms. */
  readonly clients = { answered: 0, waiting: 0, refused: 0 };
  /** What happens to them now. */
  fate: Fate = "refused";
  megabytes = 60;
  /** What they become when all connections are closed, if they are more. */
  idleMegabytes = 60;
  /** How many of these the C library keeps, although they are free, until it is told. */
  keptMegabytes = 0;
  connections = 0;
  isPortTaken = false; // by another program
  serveError: Error | undefined; // why Deno.serve fails, if it does
  networkInterfaces = () => INTERFACES;
  /** Whether there is a descriptor for a listener that accepts no connections. */
  canHoldPort = true;
  /** The options of the last Deno.serve. */
  options!: ServeOptions;
  #finished: PromiseWithResolvers<void> | undefined; // once it serves
  #acceptsTrims = false;

  // What the program gets
  stdin = { read: this.input.read, isTerminal: () => this.isInputTerminal };
  stdout = this.#createOutput("stdout", () => this.isTerminal);
  stderr = this.#createOutput("stderr", () => !this.isTerminal);
  stopSignal = () => this.stopper.signal;
  uncaughtErrorSignal = () => this.uncaught.signal;
  residentBytes = () => this.megabytes * 1e6;
  acceptTrims = () => this.#acceptsTrims = true;

  override skip(milliseconds: number): void {
    super.skip(milliseconds);
    this.clients[this.fate] += milliseconds;
  }

  #createOutput(name: string, isTerminal: () => boolean) {
    const write = (bytes: Uint8Array) => {
      this.written.push(`${name}: ${new TextDecoder().decode(bytes)}`);
      return this.write(bytes);
    };
    return { write, isTerminal };
  }

  serve = (options: ServeOptions) => {
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
      this.delay(1).then(() => { // the kernel does it soon
        this.connections = 0;
        this.megabytes = Math.min(this.megabytes, this.idleMegabytes);
        if (this.fate === "answered") this.fate = "refused";
      });
      finished.resolve();
    };
    const shutdown = () => {
      isShutDown = true;
      this.fate = "refused";
      if (this.connections === 0) finished.resolve();
    };
    const host = hostname === "localhost" ? "127.0.0.1" : hostname;
    const addr = { hostname: host, port: port || 5000 };
    return { addr, finished: finished.promise, shutdown };
  };

  listen = ({ hostname, port, tcpBacklog }: Deno.TcpListenOptions) => {
    if (!this.canHoldPort) throw EMFILE;
    this.#takePort("waiting");
    this.events.push(`hold ${hostname}:${port}, backlog ${tcpBacklog}`);
    const release = () => {
      this.events.push("release");
      this.fate = "refused";
    };
    return { [Symbol.dispose]: release };
  };

  #takePort(fate: Fate): void {
    const isFree = this.fate === "refused" && !this.isPortTaken;
    if (!isFree) throw new Deno.errors.AddrInUse();
    this.fate = fate;
  }

  trimMemory = () => {
    if (!this.#acceptsTrims) throw new Error("The signal ends the process");
    this.delay(1).then(() => { // on the next turn of the event loop
      this.megabytes -= this.keptMegabytes;
      this.keptMegabytes = 0;
    });
  };

  /** Makes accept fail, or the server end without a reason. */
  fail(error?: Error): void {
    this.fate = "refused";
    if (error) this.#finished?.reject(error);
    else this.#finished?.resolve();
  }
}
