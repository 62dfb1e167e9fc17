// Law: the keys at the given 0-based ranks among the keys of some ranges. A range is a part of a piece, from l to before r
//      in its order. Loose keys are further ones, in no order.
// Domain: ranks ascend, and are below the number of keys. Bound: exact.
// Cost: two ranks of bits per level, range and path. Ranks share a path until they part. Empty ranges are dropped.
// Source: Gagie, Navarro and Puglisi 2012, "New algorithms on wavelet trees"; several ranges are descended at once.
//
//   ranges: address of the piece u32 | l u32 | r u32
//   room: ranges of the node | of its zeros | of its ones | the same two for each node that waits    `count` ranges each

import { levelOf } from "./wavelet-levels";

/** The difference between the addresses of a rank and its answer. */
let toAnswers: usize = 0;
/** Bytes of as many ranges as the query has. */
let roomBytes: usize = 0;

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
  toAnswers = out - ranks;
  roomBytes = count * 12;
  const rangesEnd = ranges + roomBytes;
  const looseEnd = loose + (looseCount << 2);
  const first = count > 0 ? load<u32>(<usize>load<u32>(ranges), 4) : load<u32>(loose);
  let vary: u32 = 0;
  for (let at = ranges; at < rangesEnd; at += 12) {
    const piece = <usize>load<u32>(at);
    vary |= load<u32>(piece) | (load<u32>(piece, 4) ^ first);
  }
  for (let at = loose; at < looseEnd; at += 4) vary |= load<u32>(at) ^ first;
  memory.copy(room, ranges, roomBytes);
  const zeros = room + roomBytes;
  const ones = zeros + roomBytes;
  const free = ones + roomBytes;
  descend(vary, first & ~vary, room, zeros, zeros, ones, free, loose, looseEnd, ranks, ranks + (rankCount << 2), 0);
}

/** `vary`: bits of the key that are still unknown. `before`: keys below the node. */
function descend(
  vary: u32,
  key: u32,
  ranges: usize,
  rangesEnd: usize,
  zeroRoom: usize,
  oneRoom: usize,
  free: usize,
  loose: usize,
  looseEnd: usize,
  rank: usize,
  rankEnd: usize,
  before: u32,
): void {
  while (vary !== 0) {
    const level = 31 - clz(vary);
    const mask: u32 = 1 << level;
    vary ^= mask;
    let zeros: u32 = 0;
    let zero = zeroRoom;
    let one = oneRoom;
    for (let at = ranges; at < rangesEnd; at += 12) {
      const piece = <usize>load<u32>(at);
      const l = load<u32>(at, 4);
      const r = load<u32>(at, 8);
      const varies = load<u32>(piece);
      if ((varies & mask) === 0) {
        const isOne = (load<u32>(piece, 4) & mask) !== 0;
        const to = isOne ? one : zero;
        put(to, piece, l, r);
        if (isOne) one += 12;
        else {
          zero += 12;
          zeros += r - l;
        }
        continue;
      }
      const blocks = levelOf(piece, varies, level);
      const l1 = onesBefore(blocks, l);
      const r1 = onesBefore(blocks, r);
      const start = load<u32>(piece + 16 + (level << 2));
      put(zero, piece, l - l1, r - r1);
      put(one, piece, start + l1, start + r1);
      zeros += r - r1 - (l - l1);
      zero += r - r1 > l - l1 ? 12 : 0;
      one += r1 > l1 ? 12 : 0;
    }
    const parted = part(loose, looseEnd, mask);
    zeros += <u32>((parted - loose) >> 2);
    let upper = rank;
    while (upper < rankEnd && load<u32>(upper) - before < zeros) upper += 4;
    const left = ranges;
    if (upper === rankEnd) {
      ranges = zeroRoom;
      rangesEnd = zero;
      zeroRoom = left;
      looseEnd = parted;
      continue;
    }
    if (upper > rank) {
      const room = free + roomBytes;
      descend(vary, key, zeroRoom, zero, free, room, room + roomBytes, loose, parted, rank, upper, before);
    }
    rank = upper;
    ranges = oneRoom;
    rangesEnd = one;
    oneRoom = left;
    loose = parted;
    before += zeros;
    key |= mask;
  }
  for (; rank < rankEnd; rank += 4) store<u32>(rank + toAnswers, key);
}

function put(at: usize, piece: usize, l: u32, r: u32): void {
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
