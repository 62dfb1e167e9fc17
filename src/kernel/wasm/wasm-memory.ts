import { OrielError } from "../../errors.ts";

/** The part of a WebAssembly.Memory that is used; TypeScript's own declaration comes with the DOM only. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE_BYTES = 65_536;
const GROWTH_BYTES = 1 << 20;
/** Bytes left free after each region, so that a write past its end meets nothing. */
const GAP_BYTES = 64;

/**
 * Owns the linear memory of one instance. Nothing is allocated: each call lays its regions out from `base` upward, so
 * a region lives until the next call. Memory grows on demand and does not shrink; views die when it grows, therefore
 * they are made after `reserve` and not kept.
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

  /** Makes all bytes below `end` usable; TOO_LARGE beyond the bound or where the runtime gives no more. */
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
  const reason = cause === undefined ? `the bound is ${maxBytes} bytes` : "the runtime gives no more";
  return new OrielError("TOO_LARGE", `the columns need ${end} bytes of WebAssembly memory; ${reason}`, { cause });
}
