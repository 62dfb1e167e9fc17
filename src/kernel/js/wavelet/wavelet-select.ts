import { levelOf, onesBefore } from "./wavelet-levels.ts";

let words: Uint32Array = new Uint32Array(0);
/** The difference between the addresses of a rank and its answer. */
let toAnswers = 0;
/** Words of as many ranges as the query has. */
let room = 0;

/** The JavaScript form of assembly/wavelet/wavelet-select.ts. Addresses count words, also those in the ranges. */
export function select(
  memory: Uint32Array,
  ranges: number,
  count: number,
  loose: number,
  looseCount: number,
  ranks: number,
  rankCount: number,
  out: number,
  space: number,
): void {
  words = memory;
  toAnswers = out - ranks;
  room = 3 * count;
  const looseEnd = loose + looseCount;
  const first = count > 0 ? words[(words[ranges]! >>> 2) + 1]! : words[loose]!;
  let vary = 0;
  for (let at = ranges; at < ranges + room; at += 3) {
    const piece = words[at]! >>> 2;
    vary |= words[piece]! | (words[piece + 1]! ^ first);
  }
  for (let at = loose; at < looseEnd; at++) vary |= words[at]! ^ first;
  words.copyWithin(space, ranges, ranges + room);
  const [zeros, ones, free] = [space + room, space + 2 * room, space + 3 * room];
  descend(vary, first & ~vary, space, zeros, zeros, ones, free, loose, looseEnd, ranks, ranks + rankCount, 0);
}

function descend(
  vary: number,
  key: number,
  ranges: number,
  rangesEnd: number,
  zeroRoom: number,
  oneRoom: number,
  free: number,
  loose: number,
  looseEnd: number,
  rank: number,
  rankEnd: number,
  before: number,
): void {
  while (vary !== 0) {
    const level = 31 - Math.clz32(vary);
    const mask = 1 << level;
    vary ^= mask;
    let zeros = 0;
    let zero = zeroRoom;
    let one = oneRoom;
    for (let at = ranges; at < rangesEnd; at += 3) {
      const address = words[at]!;
      const piece = address >>> 2;
      const l = words[at + 1]!;
      const r = words[at + 2]!;
      const varies = words[piece]!;
      if ((varies & mask) === 0) {
        const isOne = (words[piece + 1]! & mask) !== 0;
        put(isOne ? one : zero, address, l, r);
        if (isOne) one += 3;
        else {
          zero += 3;
          zeros += r - l;
        }
        continue;
      }
      const blocks = levelOf(words, piece, varies, level);
      const l1 = onesBefore(words, blocks, l);
      const r1 = onesBefore(words, blocks, r);
      const start = words[piece + 4 + level]!;
      put(zero, address, l - l1, r - r1);
      put(one, address, start + l1, start + r1);
      zeros += r - r1 - (l - l1);
      if (r - r1 > l - l1) zero += 3;
      if (r1 > l1) one += 3;
    }
    const parted = part(loose, looseEnd, mask);
    zeros += parted - loose;
    let upper = rank;
    while (upper < rankEnd && words[upper]! - before < zeros) upper++;
    const left = ranges;
    if (upper === rankEnd) {
      ranges = zeroRoom;
      rangesEnd = zero;
      zeroRoom = left;
      looseEnd = parted;
      continue;
    }
    if (upper > rank)
      descend(vary, key, zeroRoom, zero, free, free + room, free + 2 * room, loose, parted, rank, upper, before);
    rank = upper;
    ranges = oneRoom;
    rangesEnd = one;
    oneRoom = left;
    loose = parted;
    before += zeros;
    key |= mask;
  }
  for (; rank < rankEnd; rank++) words[rank + toAnswers] = key;
}

function put(at: number, piece: number, l: number, r: number): void {
  words[at] = piece;
  words[at + 1] = l;
  words[at + 2] = r;
}

/** Moves the keys without the bit of `mask` to the front. Returns the address after them. */
function part(first: number, end: number, mask: number): number {
  let from = first;
  let to = end;
  while (from < to) {
    const x = words[from]!;
    if ((x & mask) === 0) from++;
    else {
      words[from] = words[--to]!;
      words[to] = x;
    }
  }
  return from;
}
