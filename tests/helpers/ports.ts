// Ports of this machine that no other test, program or connection takes.

/**
 * Ports that no system gives out: Linux begins at 32768 by default, macOS and Windows
 * at 49152.
 */
const FIRST = 20_000;
const COUNT = 10_000;

/**
 * A port for a program that does not report which one it uses, that is stopped and
 * started again, or at which nobody must listen.
 */
export class ReservedPort implements Disposable {
  readonly number: number;
  readonly #guard: Deno.Listener;

  /**
   * Reserves a port until it is disposed of. Tests in other processes leave it alone,
   * since they find a listener on the port before it.
   */
  constructor() {
    const start = Math.floor(Math.random() * COUNT / 2);
    for (let tried = 0; tried < COUNT / 2; tried++) {
      const port = FIRST + 2 * ((start + tried) % (COUNT / 2));
      const guard = listen("127.0.0.1", port);
      if (!guard) continue;
      if (isFree(port + 1)) {
        this.number = port + 1;
        this.#guard = guard;
        return;
      }
      guard.close();
    }
    throw new Error(`No port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
  }

  toString(): string {
    return `${this.number}`;
  }

  [Symbol.dispose](): void {
    this.#guard.close();
  }
}

/** Tells whether no program listens on any address of this machine. */
function isFree(port: number): boolean {
  return ["127.0.0.1", "0.0.0.0", "::"].every((hostname) => {
    using listener = listen(hostname, port);
    return listener !== undefined || !hasAddress(hostname);
  });
}

function hasAddress(hostname: string): boolean {
  using listener = listen(hostname, 0);
  return listener !== undefined;
}

function listen(hostname: string, port: number): Deno.Listener | undefined {
  try {
    return Deno.listen({ hostname, port });
  } catch {
    return undefined; // another program does, or the machine has no IPv6
  }
}
