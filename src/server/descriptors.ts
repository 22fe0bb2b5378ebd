import type { Logger } from "@std/log/logger";
import type { Handler } from "../http/handler.ts";

const SAVING_MS = 600_000; // how long connections are closed after each response
const SIEGE_MS = 10_000; // running out twice within this time is a siege
const SIEGE_BACKLOG = 128; // a shorter queue than Deno's: new clients wait less

/** Remembers when file descriptors ran out, and saves them for a time. */
export class Descriptors {
  #isSaving = false;
  #exhaustedAt = -Infinity;
  #siegeAt = -Infinity;

  constructor(
    private readonly logger: Logger,
    private readonly now = () => performance.now(),
  ) {}

  /** Wraps a handler: asks HTTP/1 clients to close connections to save descriptors. */
  withClosing(handler: Handler): Handler {
    return (request, context) => {
      const response = handler(request, context);
      if (!this.#isSaving) return response;
      this.#isSaving = this.now() - this.#exhaustedAt < SAVING_MS;
      if (this.#isSaving) response.headers.set("connection", "close");
      else this.logger.warn("Connections are kept alive again");
      return response;
    };
  }

  /** Notes that descriptors have run out, and starts to save them. */
  noteExhausted(): void {
    const now = this.now();
    if (now - this.#exhaustedAt < SIEGE_MS) this.#siegeAt = now;
    this.#exhaustedAt = now;
    if (this.#isSaving) return;
    this.#isSaving = true;
    this.logger.warn("Connections are no longer kept alive");
  }

  /** How many clients may wait for accept; undefined for Deno's default. */
  get backlog(): number | undefined {
    const isSiege = this.now() - this.#siegeAt < SIEGE_MS;
    return isSiege ? SIEGE_BACKLOG : undefined;
  }
}
