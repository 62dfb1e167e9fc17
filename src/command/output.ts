import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import pc from "picocolors";

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

/** A terminal's width, or undefined where the output goes elsewhere. */
export function widthOf(stream: object): number | undefined {
  const { isTTY, columns } = stream as { isTTY?: boolean; columns?: number };
  return isTTY === true ? columns : undefined;
}

/**
 * Whether to write colours. NO_COLOR forbids them (no-color.org), FORCE_COLOR asks for them also in a pipe; without both, only
 * a terminal that is not dumb gets them.
 */
export function hasColors(stream: object): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = process.env;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0";
  return (stream as { isTTY?: boolean }).isTTY === true && TERM !== "dumb";
}

export function colorsFor(stream: object): ReturnType<typeof pc.createColors> {
  return pc.createColors(hasColors(stream));
}

/** The streams that a command reads and writes: the three of the process, or others in tests. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}
