import type { Column } from "../../contract.ts";
import { encode } from "../keys.ts";

/** Marks a NaN, which has no rank. */
export const NONE = 0xffffffff;
const FEW = 32768;
const DIGIT_BITS = 11;
const MOVES_EACH = 4;

/** The rank of each value, and the index of the value at each rank. */
export interface Ranking {
  ranks: Uint32Array;
  order: Uint32Array;
}

/** Keys (see keys.ts) minus the smallest key, in two words. `high` is null for f32. */
interface Distances {
  low: Uint32Array;
  high: Uint32Array | null;
  /** Number of bits of the largest distance. */
  bits: number;
}

/** Pairs of a part of a distance and an index, in two columns. */
interface Pairs {
  parts: Uint32Array;
  indexes: Uint32Array;
}

const histogram = new Uint32Array(1 << DIGIT_BITS);

/** The JavaScript form of assembly/rolling/rolling-rank.ts. It stores the distances instead of computing them again. */
export function rollingRank(values: Column): Ranking {
  const indexes = new Uint32Array(values.length);
  let known = 0;
  for (let i = 0; i < values.length; i++) {
    indexes[known] = i;
    if (values[i]! <= Number.POSITIVE_INFINITY) known++;
  }
  const distances = distancesOf(values, indexes.subarray(0, known));
  let pairs: Pairs = { parts: new Uint32Array(known), indexes: indexes.subarray(0, known) };
  let spare: Pairs = { parts: new Uint32Array(known), indexes: new Uint32Array(known) };
  const { bits } = distances;
  const kept = Math.min(bits, known < FEW ? 2 * DIGIT_BITS : 32);
  [pairs, spare] = sortBy(distances, bits - kept, kept, pairs, spare);
  if (kept < bits && !repair(distances, pairs))
    for (let shift = 0; shift < bits; shift += 32)
      [pairs, spare] = sortBy(distances, shift, Math.min(bits - shift, 32), pairs, spare);
  const ranks = new Uint32Array(values.length);
  if (known < values.length) ranks.fill(NONE);
  for (let rank = 0; rank < known; rank++) ranks[pairs.indexes[rank]!] = rank;
  return { ranks, order: pairs.indexes };
}

function distancesOf(values: Column, known: Uint32Array): Distances {
  const wide = values instanceof Float64Array;
  const words = new Uint32Array(values.slice().buffer);
  encode(words, wide ? 2 : 1);
  return wide ? distances64(words, known) : distances32(words, known);
}

function distances32(low: Uint32Array, known: Uint32Array): Distances {
  let least = 0xffffffff;
  let most = 0;
  for (let j = 0; j < known.length; j++) {
    const key = low[known[j]!]!;
    if (key < least) least = key;
    if (key > most) most = key;
  }
  for (let i = 0; i < low.length; i++) low[i]! -= least;
  return { low, high: null, bits: known.length === 0 ? 0 : 32 - Math.clz32(most - least) };
}

function distances64(words: Uint32Array, known: Uint32Array): Distances {
  const low = new Uint32Array(words.length / 2);
  const high = new Uint32Array(words.length / 2);
  let least = 0;
  let most = 0;
  for (let j = 0; j < known.length; j++) {
    const i = known[j]!;
    if (j === 0 || isBelow(words, i, least)) least = i;
    if (j === 0 || isBelow(words, most, i)) most = i;
  }
  const minLow = words[2 * least] ?? 0;
  const minHigh = words[2 * least + 1] ?? 0;
  for (let i = 0; i < low.length; i++) {
    const word = words[2 * i]!;
    low[i] = word - minLow;
    high[i] = words[2 * i + 1]! - minHigh - (word < minLow ? 1 : 0);
  }
  if (known.length === 0) return { low, high, bits: 0 };
  const top = high[most]!;
  return { low, high, bits: top === 0 ? 32 - Math.clz32(low[most]!) : 64 - Math.clz32(top) };
}

function isBelow(words: Uint32Array, i: number, j: number): boolean {
  const high = words[2 * i + 1]!;
  const other = words[2 * j + 1]!;
  return high < other || (high === other && words[2 * i]! < words[2 * j]!);
}

/** Sorts the pairs, stably, by `kept` (at most 32) bits of their distances from bit `shift`. Returns them, then the spare. */
function sortBy(distances: Distances, shift: number, kept: number, source: Pairs, target: Pairs): [Pairs, Pairs] {
  if (kept === 0) return [source, target];
  fill(distances, shift, source);
  const digits = Math.ceil(kept / DIGIT_BITS);
  const bits = Math.ceil(kept / digits);
  let [from, to] = [source, target];
  for (let digit = 0; digit < digits; digit++)
    if (scatter(from, to, digit * bits, (1 << bits) - 1)) [from, to] = [to, from];
  return [from, to];
}

function fill({ low, high }: Distances, shift: number, { parts, indexes }: Pairs): void {
  if (high === null) for (let j = 0; j < parts.length; j++) parts[j] = low[indexes[j]!]! >>> shift;
  else if (shift >= 32) for (let j = 0; j < parts.length; j++) parts[j] = high[indexes[j]!]! >>> (shift - 32);
  else if (shift === 0) for (let j = 0; j < parts.length; j++) parts[j] = low[indexes[j]!]!;
  else
    for (let j = 0; j < parts.length; j++) {
      const i = indexes[j]!;
      parts[j] = (low[i]! >>> shift) | (high[i]! << (32 - shift));
    }
}

/** Sorts by one digit. Returns false, and moves nothing, if the digit is equal in all parts. */
function scatter(from: Pairs, to: Pairs, shift: number, mask: number): boolean {
  const { parts, indexes } = from;
  histogram.fill(0, 0, mask + 1);
  for (let j = 0; j < parts.length; j++) histogram[(parts[j]! >>> shift) & mask]!++;
  if (histogram[(parts[0]! >>> shift) & mask] === parts.length) return false;
  let next = 0;
  for (let digit = 0; digit <= mask; digit++) {
    const size = histogram[digit]!;
    histogram[digit] = next;
    next += size;
  }
  for (let j = 0; j < parts.length; j++) {
    const part = parts[j]!;
    const place = histogram[(part >>> shift) & mask]!++;
    to.parts[place] = part;
    to.indexes[place] = indexes[j]!;
  }
  return true;
}

/** Orders pairs with equal parts by their distances. Returns false if that takes too many moves; all pairs remain. */
function repair({ low, high }: Distances, { parts, indexes }: Pairs): boolean {
  let moves = parts.length * MOVES_EACH;
  const isAbove = (i: number, j: number) =>
    high === null || high[i] === high[j] ? low[i]! > low[j]! : high[i]! > high[j]!;
  for (let j = 1; j < parts.length; j++) {
    const part = parts[j]!;
    if (part !== parts[j - 1]) continue;
    const index = indexes[j]!;
    let q = j;
    for (; q > 0 && parts[q - 1] === part && isAbove(indexes[q - 1]!, index); q--) {
      if (moves === 0) break;
      moves--;
      indexes[q] = indexes[q - 1]!;
    }
    indexes[q] = index;
    if (moves === 0) return false;
  }
  return true;
}
