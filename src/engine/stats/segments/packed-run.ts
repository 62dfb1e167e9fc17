import type { Summary } from "../../kernel/contract.ts";
import { bitsOfKey, keyOfBits } from "../../kernel/js/keys.ts";
import { Run } from "../runs/run.ts";
import type { PackedInts } from "./packed-ints.ts";

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);
const NEGATIVE_ZERO = 0x7fff_ffff;
/** For a smaller share of the numbers, reads one by one cost less than to unpack all. */
const MIN_SHARE = 0.25;
/** Scratch memory for all keys of a run. */
let unpacked = new Uint32Array(0);

/** A run of f32 numbers, each of them packed as its key. Keys are u32 in the order of the numbers; -0 is before +0. */
export class PackedRun extends Run {
  readonly #keys: PackedInts;

  /** `keys`: those of the numbers, ascending, then those of NaN. */
  constructor(summary: Summary, keys: PackedInts) {
    super();
    this.#keys = keys;
    this.describe(summary);
  }

  at(i: number): number {
    word[0] = bitsOfKey(this.#keys.at(i));
    return float[0]!;
  }

  lowerBound(limit: number, from: number, to: number): number {
    return this.#keys.lowerBound(leastKeyFrom(limit), from, to);
  }

  upperBound(limit: number, from: number, to: number): number {
    return this.#keys.lowerBound(leastKeyAbove(limit), from, to);
  }

  copyTo(into: Float64Array, at: number, from: number, to: number): void {
    for (let i = from; i < to; i++) into[at + i - from] = this.at(i);
  }

  part(from: number, to: number): Float32Array {
    const part = new Float32Array(to - from);
    const words = new Uint32Array(part.buffer);
    this.#keys.copyTo(words, from, to);
    for (let i = 0; i < words.length; i++) words[i] = bitsOfKey(words[i]!);
    return part;
  }

  /** Writes the numbers at the ranks from index `from` to before `to` of `ranks` to `into`, from its index 0 on. */
  copyRanked(into: Float32Array, ranks: PackedInts, from: number, to: number): void {
    const words = new Uint32Array(into.buffer, into.byteOffset, to - from);
    ranks.copyTo(words, from, to);
    if (words.length < this.count * MIN_SHARE) {
      for (let i = 0; i < words.length; i++) words[i] = bitsOfKey(this.#keys.at(words[i]!));
      return;
    }
    if (unpacked.length < this.count) unpacked = new Uint32Array(this.count);
    this.#keys.copyTo(unpacked, 0, this.count);
    for (let i = 0; i < words.length; i++) words[i] = bitsOfKey(unpacked[words[i]!]!);
  }
}

function keyOf(rounded: number): number {
  float[0] = rounded;
  return keyOfBits(word[0]!);
}

/** The least key of a number that is not below `limit`. Both zeros are the same number. */
function leastKeyFrom(limit: number): number {
  const rounded = Math.fround(limit);
  if (rounded < limit) return keyOf(rounded) + 1;
  return rounded === 0 ? NEGATIVE_ZERO : keyOf(rounded);
}

/** The least key of a number above `limit`. */
function leastKeyAbove(limit: number): number {
  const rounded = Math.fround(limit);
  if (rounded > limit) return rounded === 0 ? NEGATIVE_ZERO : keyOf(rounded);
  return keyOf(rounded === 0 ? 0 : rounded) + 1;
}
