import { once } from "node:events";
import type { Writable } from "node:stream";

/** Lets a program end quietly after the reader of a stream has closed it (`| head`), also where no `Output` writes. */
export function allowClosedReader(stream: Writable): void {
  stream.off("error", ignore).on("error", ignore);
}

function ignore(): void {}

/**
 * Writes text, and waits while the reader is slow. A closed reader (`| head`) is not an error; `isClosed` reports it.
 */
export class Output {
  readonly #stream: Writable;
  #isClosed = false;
  readonly #closed: Promise<void>;

  constructor(stream: Writable) {
    this.#stream = stream;
    this.#closed = new Promise((resolve) => {
      const close = () => {
        this.#isClosed = true;
        resolve();
      };
      stream.on("error", close);
      stream.on("close", close);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async write(text: string): Promise<void> {
    if (text === "" || this.#isClosed) return;
    if (this.#stream.write(text)) return;
    const drained = new AbortController();
    await Promise.race([once(this.#stream, "drain", { signal: drained.signal }).catch(() => {}), this.#closed]);
    drained.abort();
  }
}
