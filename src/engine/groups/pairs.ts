import { NUMBER_MASK, PAIR } from "../kernel/blocks/pairs.ts";

/*
 * A pair: the number of a group and an f32 value, in the bits of one f64. Its journal is one of f64 values, of value type VALUE_PAIR.
 *
 *   high u32  0x40000000 | number (20 bits)     so each pair is a number from 2 to 4, and never NaN
 *   low u32   the value's bits, all inverted if it is negative, else only the sign bit
 *
 * Law: pairs are in order of their group, and within it in order of their value: -0 before +0, NaN last. A sorted run of pairs
 * therefore has the sorted values of each group in one piece.
 */
const HALF_BYTES = 4;
/** A computed NaN may have a sign, and would then come before all numbers. */
const NAN_BITS = 0x7fc0_0000;
/** Numbers are below it. */
export const MAX_NUMBERS = NUMBER_MASK + 1;

const pair = /* @__PURE__ */ new Float64Array(1);
const words = /* @__PURE__ */ new Uint32Array(pair.buffer);
const value32 = /* @__PURE__ */ new Float32Array(1);
const bits32 = /* @__PURE__ */ new Int32Array(value32.buffer);

/** The pair of a group and a value, which is rounded to f32. */
export function pairOf(number: number, value: number): number {
  value32[0] = value;
  const bits = Number.isNaN(value) ? NAN_BITS : bits32[0]!;
  words[0] = bits ^ ((bits >> 31) | 0x8000_0000);
  words[1] = PAIR | number;
  return pair[0]!;
}

/** Replaces the number of the pair that begins at `at`. */
export function renumberAt(view: DataView, at: number, numbers: Uint32Array): void {
  const upper = at + HALF_BYTES;
  view.setUint32(upper, PAIR | numbers[view.getUint32(upper, true) & NUMBER_MASK]!, true);
}
