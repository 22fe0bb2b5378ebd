import type { Logger } from "@std/log/logger";
import type { Handler } from "../http/handler.ts";

const SAVING_MS = 600_000; // how long connections are closed after each response
const SIEGE_MS = 10_000; // running out twice within this time is a siege
const SIEGE_BACKLOG = 128; // a shorter queue than Deno's: new clients wait less

/** File descriptors, of which each connection takes one, and when they ran out. */
export class Descriptors {
  #areLow = false;
  #ranOutAt = -Infinity;

  constructor(
    private readonly logger: Logger,
    private readonly now = () => performance.now(),
  ) {}

  /** Wraps a handler: asks HTTP/1 clients to close connections to save descriptors. */
  withClosing(handler: Handler): Handler {
    return (request, context) => {
      const response = handler(request, context);
      if (!this.#areLow) return response;
      this.#areLow = this.now() - this.#ranOutAt < SAVING_MS;
      if (this.#areLow) response.headers.set("connection", "close");
      else this.logger.warn("Connections are kept alive again");
      return response;
    };
  }

  /**
   * Notes that they have run out, and starts to save them. Returns the backlog with
   * which to listen again, or undefined for Deno's.
   */
  runOut(): number | undefined {
    if (!this.#areLow) this.logger.warn("Connections are no longer kept alive");
    this.#areLow = true;
    const before = this.#ranOutAt;
    this.#ranOutAt = this.now();
    return this.#ranOutAt - before < SIEGE_MS ? SIEGE_BACKLOG : undefined;
  }
}
