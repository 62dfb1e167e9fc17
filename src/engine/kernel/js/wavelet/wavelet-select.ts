import { levelOf, onesBefore } from "./wavelet-levels.ts";

/** Words of a node, in the order of assembly/wavelet/wavelet-select.ts. */
const NODE = 11;

/** The JavaScript form of assembly/wavelet/wavelet-select.ts. Addresses count words; those of pieces in ranges, bytes. */
export function select(
  words: Uint32Array,
  ranges: number,
  count: number,
  loose: number,
  looseCount: number,
  ranks: number,
  rankCount: number,
  out: number,
  room: number,
): void {
  const rangesEnd = ranges + 3 * count;
  const looseEnd = loose + looseCount;
  const first = count > 0 ? words[(words[ranges]! >>> 2) + 1]! : words[loose]!;
  let vary = 0;
  for (let at = ranges; at < rangesEnd; at += 3) {
    const piece = words[at]! >>> 2;
    vary |= words[piece]! | (words[piece + 1]! ^ first);
  }
  for (let at = loose; at < looseEnd; at++) vary |= words[at]! ^ first;
  const list = 3 * rankCount * count;
  let [nodes, nextNodes] = [room, room + rankCount * NODE];
  let zeros = nextNodes + rankCount * NODE;
  let ones = zeros + 2 * list;
  let [nextZeros, nextOnes] = [zeros + list, ones + list];
  let end = addNode(words, nodes, ranges, rangesEnd, loose, looseEnd, ranks, ranks + rankCount, 0, first & ~vary);
  while (vary !== 0) {
    const level = 31 - Math.clz32(vary);
    vary ^= 1 << level;
    halve(words, nodes, end, level, nextZeros, nextOnes);
    end = descend(words, nodes, end, level, nextZeros, nextOnes, nextNodes);
    [nodes, nextNodes] = [nextNodes, nodes];
    [zeros, nextZeros] = [nextZeros, zeros];
    [ones, nextOnes] = [nextOnes, ones];
  }
  for (let node = nodes; node < end; node += NODE)
    words.fill(words[node + 7]!, words[node + 4]! + out - ranks, words[node + 5]! + out - ranks);
}

/** Writes the ranges of both halves of each node. */
function halve(words: Uint32Array, nodes: number, nodesEnd: number, level: number, zeros: number, ones: number): void {
  let zero = zeros;
  let one = ones;
  for (let node = nodes; node < nodesEnd; node += NODE) {
    let zeroCount = 0;
    const end = words[node + 1]!;
    for (let at = words[node]!; at < end; at += 3) {
      const address = words[at]!;
      const piece = address >>> 2;
      const l = words[at + 1]!;
      const r = words[at + 2]!;
      const varies = words[piece]!;
      if (((varies >>> level) & 1) === 0) {
        const isOne = ((words[piece + 1]! >>> level) & 1) !== 0;
        putRange(words, isOne ? one : zero, address, l, r);
        if (isOne) one += 3;
        else {
          zero += 3;
          zeroCount += r - l;
        }
        continue;
      }
      const blocks = levelOf(words, piece, varies, level);
      const l1 = onesBefore(words, blocks, l);
      const r1 = onesBefore(words, blocks, r);
      const start = words[piece + 4 + level]!;
      putRange(words, zero, address, l - l1, r - r1);
      putRange(words, one, address, start + l1, start + r1);
      zeroCount += r - r1 - (l - l1);
      if (r - r1 > l - l1) zero += 3;
      if (r1 > l1) one += 3;
    }
    words[node + 8] = zero;
    words[node + 9] = one;
    words[node + 10] = zeroCount;
  }
}

/** Writes the halves that have a rank. Returns the end of the new nodes. */
function descend(
  words: Uint32Array,
  nodes: number,
  nodesEnd: number,
  level: number,
  zeros: number,
  ones: number,
  into: number,
): number {
  let next = into;
  let zero = zeros;
  let one = ones;
  for (let node = nodes; node < nodesEnd; node += NODE) {
    const zeroEnd = words[node + 8]!;
    const oneEnd = words[node + 9]!;
    const loose = words[node + 2]!;
    const looseEnd = words[node + 3]!;
    const rank = words[node + 4]!;
    const rankEnd = words[node + 5]!;
    const before = words[node + 6]!;
    const key = words[node + 7]!;
    const parted = part(words, loose, looseEnd, 1 << level);
    const above = before + words[node + 10]! + parted - loose;
    let upper = rank;
    while (upper < rankEnd && words[upper]! < above) upper++;
    if (upper > rank) next = addNode(words, next, zero, zeroEnd, loose, parted, rank, upper, before, key);
    if (upper < rankEnd)
      next = addNode(words, next, one, oneEnd, parted, looseEnd, upper, rankEnd, above, key | (1 << level));
    zero = zeroEnd;
    one = oneEnd;
  }
  return next;
}

function addNode(
  words: Uint32Array,
  at: number,
  ranges: number,
  rangesEnd: number,
  loose: number,
  looseEnd: number,
  ranks: number,
  ranksEnd: number,
  before: number,
  key: number,
): number {
  words[at] = ranges;
  words[at + 1] = rangesEnd;
  words[at + 2] = loose;
  words[at + 3] = looseEnd;
  words[at + 4] = ranks;
  words[at + 5] = ranksEnd;
  words[at + 6] = before;
  words[at + 7] = key;
  return at + NODE;
}

function putRange(words: Uint32Array, at: number, piece: number, l: number, r: number): void {
  words[at] = piece;
  words[at + 1] = l;
  words[at + 2] = r;
}

/** Moves the keys without the bit of `mask` to the front. Returns the address after them. */
function part(words: Uint32Array, first: number, end: number, mask: number): number {
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
