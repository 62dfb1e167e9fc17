import { OrielError } from "../../../base/errors.ts";

/** The part of WebAssembly.Memory that is used. TypeScript declares the rest only in its DOM library. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE_BYTES = 65_536;
const GROWTH_BYTES = 1 << 20;
/** Free bytes after each region, so that a vector write past its end does no harm. */
const GAP_BYTES = 64;

/**
 * Owns the linear memory of one instance. There is no allocator: each call lays out its regions from the start, so a
 * region is valid until the next call. Memory grows on demand and never shrinks. Growth detaches all views, so they are
 * created after `reserve` and not stored.
 */
export class WasmMemory {
  readonly #memory: LinearMemory;
  readonly #maxBytes: number;

  constructor(memory: LinearMemory, maxBytes: number) {
    this.#memory = memory;
    this.#maxBytes = maxBytes;
  }

  get buffer(): ArrayBuffer {
    return this.#memory.buffer;
  }

  /** Makes all bytes below `end` usable. Throws TOO_LARGE above the bound, or if the runtime has no more memory. */
  reserve(end: number): void {
    const held = this.#memory.buffer.byteLength;
    if (end <= held) return;
    if (end > this.#maxBytes) throw tooLarge(end, this.#maxBytes);
    const wanted = Math.min(this.#maxBytes, Math.ceil(end / GROWTH_BYTES) * GROWTH_BYTES);
    try {
      this.#memory.grow(Math.ceil((wanted - held) / PAGE_BYTES));
    } catch (cause) {
      throw tooLarge(end, this.#maxBytes, cause);
    }
  }

  /** The first place for a region after one that ends at `end`. */
  static after(end: number): number {
    return Math.ceil((end + GAP_BYTES) / 64) * 64;
  }
}

function tooLarge(end: number, maxBytes: number, cause?: unknown): OrielError {
  const reason = cause === undefined ? `the bound is ${maxBytes} bytes` : "the runtime has no more memory";
  return new OrielError("TOO_LARGE", `the columns need ${end} bytes of WebAssembly memory; ${reason}`, { cause });
}
