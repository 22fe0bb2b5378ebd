// What happens when file descriptors run out: each connection takes one.

import type { Logger } from "@std/log/logger";
import { close, holdPort, type Listener, type Runtime } from "./listener.ts";

const LAST_RESPONSE_MS = 20; // to answer the client that took the last descriptor
const SAVING_MS = 600_000; // how long after they ran out they are saved

/** Saves descriptors for ten minutes after they last ran out. */
export class Descriptors {
  #isSaving = false;
  #ranOutAt = 0;

  constructor(
    private readonly logger: Logger,
    private readonly runtime: Runtime,
  ) {}

  /** Asks the client to close its HTTP/1 connection while descriptors are saved. */
  finish(response: Response): Response {
    if (!this.#isSaving) return response;
    this.#isSaving = this.runtime.now() - this.#ranOutAt < SAVING_MS;
    if (this.#isSaving) response.headers.set("connection", "close");
    else this.logger.warn("Connections are kept alive again");
    return response;
  }

  /** Saves descriptors for ten minutes from now. */
  startSaving(): void {
    if (!this.#isSaving) {
      this.logger.warn("Connections are no longer kept alive");
    }
    this.#isSaving = true;
    this.#ranOutAt = this.runtime.now();
  }
}

/** Closes all connections after accept has failed, which has closed the port. */
export async function releaseDescriptors(listener: Listener, runtime: Runtime) {
  using _ = holdPort(listener, runtime);
  await runtime.delay(LAST_RESPONSE_MS);
  await close(listener, runtime);
}
