import type { ValuesVisitor } from "./positions.ts";

/** Up to this many values, a loop is faster than `TypedArray.set`. */
const MAX_LOOPED = 64;

/** Copies values into the memory of wavelet matrices. */
export class ValuesCopy implements ValuesVisitor {
  floats: Float32Array = new Float32Array(0);
  at = 0;

  follow({ buffer }: Uint32Array): void {
    if (buffer !== this.floats.buffer) this.floats = new Float32Array(buffer);
  }

  addValues(values: Float32Array, begin: number, end: number): void {
    if (end - begin > MAX_LOOPED) this.floats.set(values.subarray(begin, end), this.at);
    else for (let i = begin; i < end; i++) this.floats[this.at + i - begin] = values[i]!;
    this.at += end - begin;
  }
}
