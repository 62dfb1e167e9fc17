// Law: the keys at the given 0-based ranks among the keys of some ranges. A range is a part of a piece, from l to before r
//      in its order. Loose keys are further ones, in no order.
// Domain: at least one rank. Ranks ascend, and are below the number of keys. Bound: exact.
// Cost: two ranks of bits per level, range and node. Ranks share a node until they part. Empty ranges are dropped.
// Source: Gagie, Navarro and Puglisi 2012, "New algorithms on wavelet trees". All ranks descend level by level, so that the
//         processor waits for the memory of all nodes at once.
//
//   ranges: address of the piece u32 | l u32 | r u32
//   room: two lists of nodes | two lists of ranges with bit 0 | two with bit 1       one list is read, the other written
//   node: ranges and their end | loose keys and their end | ranks and their end | keys below u32 | key u32
//         and while it is parted: end of its zeros u32 | end of its ones u32 | its zeros u32

import { levelOf } from "./wavelet-levels";

const NODE: usize = 44;

/** Reorders the loose keys. Writes a key for each rank to `out`. */
export function waveletSelect(
  ranges: usize,
  count: usize,
  loose: usize,
  looseCount: usize,
  ranks: usize,
  rankCount: usize,
  out: usize,
  room: usize,
): void {
  const rangesEnd = ranges + count * 12;
  const looseEnd = loose + (looseCount << 2);
  const first = count > 0 ? load<u32>(<usize>load<u32>(ranges), 4) : load<u32>(loose);
  let vary: u32 = 0;
  for (let at = ranges; at < rangesEnd; at += 12) {
    const piece = <usize>load<u32>(at);
    vary |= load<u32>(piece) | (load<u32>(piece, 4) ^ first);
  }
  for (let at = loose; at < looseEnd; at += 4) vary |= load<u32>(at) ^ first;
  let nodes = room;
  let nextNodes = nodes + rankCount * NODE;
  const listBytes = rankCount * count * 12;
  let zeros = nextNodes + rankCount * NODE;
  let nextZeros = zeros + listBytes;
  let ones = nextZeros + listBytes;
  let nextOnes = ones + listBytes;
  let nodesEnd = addNode(nodes, ranges, rangesEnd, loose, looseEnd, ranks, ranks + (rankCount << 2), 0, first & ~vary);
  while (vary !== 0) {
    const level = 31 - clz(vary);
    vary ^= 1 << level;
    let zero = nextZeros;
    let one = nextOnes;
    for (let node = nodes; node < nodesEnd; node += NODE) {
      let zeroCount: u32 = 0;
      for (let at = <usize>load<u32>(node), end = <usize>load<u32>(node, 4); at < end; at += 12) {
        const piece = <usize>load<u32>(at);
        const l = load<u32>(at, 4);
        const r = load<u32>(at, 8);
        const varies = load<u32>(piece);
        if (((varies >> level) & 1) === 0) {
          const isOne = ((load<u32>(piece, 4) >> level) & 1) !== 0;
          putRange(isOne ? one : zero, piece, l, r);
          if (isOne) one += 12;
          else {
            zero += 12;
            zeroCount += r - l;
          }
          continue;
        }
        const blocks = levelOf(piece, varies, level);
        const l1 = onesBefore(blocks, l);
        const r1 = onesBefore(blocks, r);
        const start = load<u32>(piece + 16 + (level << 2));
        putRange(zero, piece, l - l1, r - r1);
        putRange(one, piece, start + l1, start + r1);
        zeroCount += r - r1 - (l - l1);
        zero += r - r1 > l - l1 ? 12 : 0;
        one += r1 > l1 ? 12 : 0;
      }
      store<u32>(node, <u32>zero, 32);
      store<u32>(node, <u32>one, 36);
      store<u32>(node, zeroCount, 40);
    }
    zero = nextZeros;
    one = nextOnes;
    let next = nextNodes;
    for (let node = nodes; node < nodesEnd; node += NODE) {
      const zeroEnd = <usize>load<u32>(node, 32);
      const oneEnd = <usize>load<u32>(node, 36);
      const looseBegin = <usize>load<u32>(node, 8);
      const looseStop = <usize>load<u32>(node, 12);
      const rank = <usize>load<u32>(node, 16);
      const rankEnd = <usize>load<u32>(node, 20);
      const before = load<u32>(node, 24);
      const key = load<u32>(node, 28);
      const parted = part(looseBegin, looseStop, 1 << level);
      const above = before + load<u32>(node, 40) + <u32>((parted - looseBegin) >> 2);
      let upper = rank;
      while (upper < rankEnd && load<u32>(upper) < above) upper += 4;
      if (upper > rank) next = addNode(next, zero, zeroEnd, looseBegin, parted, rank, upper, before, key);
      if (upper < rankEnd)
        next = addNode(next, one, oneEnd, parted, looseStop, upper, rankEnd, above, key | (1 << level));
      zero = zeroEnd;
      one = oneEnd;
    }
    nodesEnd = next;
    next = nodes;
    nodes = nextNodes;
    nextNodes = next;
    next = zeros;
    zeros = nextZeros;
    nextZeros = next;
    next = ones;
    ones = nextOnes;
    nextOnes = next;
  }
  for (let node = nodes; node < nodesEnd; node += NODE) {
    const key = load<u32>(node, 28);
    for (let rank = <usize>load<u32>(node, 16), end = <usize>load<u32>(node, 20); rank < end; rank += 4)
      store<u32>(rank + (out - ranks), key);
  }
}

function addNode(
  at: usize,
  ranges: usize,
  rangesEnd: usize,
  loose: usize,
  looseEnd: usize,
  ranks: usize,
  ranksEnd: usize,
  before: u32,
  key: u32,
): usize {
  store<u32>(at, <u32>ranges);
  store<u32>(at, <u32>rangesEnd, 4);
  store<u32>(at, <u32>loose, 8);
  store<u32>(at, <u32>looseEnd, 12);
  store<u32>(at, <u32>ranks, 16);
  store<u32>(at, <u32>ranksEnd, 20);
  store<u32>(at, before, 24);
  store<u32>(at, key, 28);
  return at + NODE;
}

function putRange(at: usize, piece: usize, l: u32, r: u32): void {
  store<u32>(at, <u32>piece);
  store<u32>(at, l, 4);
  store<u32>(at, r, 8);
}

/** Number of ones before a place of a level. */
function onesBefore(blocks: usize, place: u32): u32 {
  const at = blocks + <usize>(place >> 6) * 12;
  return load<u32>(at, 8) + <u32>popcnt(load<u64>(at) & (((<u64>1) << place) - 1));
}

/** Moves the keys without the bit of `mask` to the front. Returns the address after them. */
function part(from: usize, to: usize, mask: u32): usize {
  while (from < to) {
    const x = load<u32>(from);
    if ((x & mask) === 0) from += 4;
    else {
      to -= 4;
      store<u32>(from, load<u32>(to));
      store<u32>(to, x);
    }
  }
  return from;
}
