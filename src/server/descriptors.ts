import type { Logger } from "@std/log/logger";
import type { Handler } from "../http/handler.ts";
import { logNotice } from "../log/logger.ts";

const SAVING_DURATION_MS = 600_000; // for how long each response closes its connection
const ATTACK_INTERVAL_MS = 10_000; // running out twice within this time is an attack
const ATTACK_BACKLOG = 128; // a shorter queue than Deno's: new clients wait less

/** Remembers when file descriptors ran out, and saves them for a time. */
export class Descriptors {
  #isSaving = false;
  #exhaustedAt = -Infinity;
  #attackedAt = -Infinity;

  constructor(
    private readonly logger: Logger,
    private readonly now = () => performance.now(),
  ) {}

  /** Wraps a handler: asks HTTP/1 clients to close connections to save descriptors. */
  withClosing(handler: Handler): Handler {
    return (request, context) => {
      const response = handler(request, context);
      if (!this.#isSaving) return response;
      this.#isSaving = this.now() - this.#exhaustedAt < SAVING_DURATION_MS;
      if (this.#isSaving) response.headers.set("connection", "close");
      else logNotice(this.logger, "Connections are kept alive again");
      return response;
    };
  }

  /** Notes that descriptors have run out, and starts to save them. */
  noteExhausted(): void {
    const now = this.now();
    if (now - this.#exhaustedAt < ATTACK_INTERVAL_MS) this.#attackedAt = now;
    this.#exhaustedAt = now;
    if (this.#isSaving) return;
    this.#isSaving = true;
    this.logger.warn("Connections are no longer kept alive");
  }

  /** How many clients may wait for accept; undefined for Deno's default. */
  get backlog(): number | undefined {
    const isAttack = this.now() - this.#attackedAt < ATTACK_INTERVAL_MS;
    return isAttack ? ATTACK_BACKLOG : undefined;
  }
}
