// Law: the order of arrival takes the fewest bytes. Of equal forms it is the first of these: none, index, sparse, permutation.
import { bitsOf, pack } from "./bits";
import { DISTINCT_COUNT, IN_ORDER, INDEX, ORDER_BYTES, ORDER_KIND, PERMUTATION, SPARSE, setField } from "./fields";
import { encodeGroups, encodeSamples } from "./ladder";
import { INDEXES, LOWS, OFFSETS, ORDER, RANKS, SORTED, SPARSE_ORDER } from "./places";

/** Writes the order to ORDER. `last`: the index of the last distinct value. */
export function encodeOrder(count: u32, last: u32): void {
  setField(DISTINCT_COUNT, last + 1);
  let inOrder = true;
  for (let i: u32 = 0; i < count && inOrder; i++) inOrder = load<u16>(SORTED + (i << 1)) === i << 1;
  setField(ORDER_KIND, IN_ORDER);
  setField(ORDER_BYTES, 0);
  if (inOrder) return;
  const width = bitsOf(last);
  let kind = INDEX;
  let bytes = (count * width + 7) >> 3;
  // A value with all but an eighth of the events is there at both places.
  const middle = count >> 3;
  const common = indexOfRank(middle);
  if (common === indexOfRank(count - 1 - middle)) {
    const sparseBytes = encodeSparse(count, common, width);
    if (sparseBytes < bytes) {
      memory.copy(ORDER, SPARSE_ORDER, sparseBytes);
      kind = SPARSE;
      bytes = sparseBytes;
    }
  }
  if (shuffleBytes(count) < bytes) {
    kind = PERMUTATION;
    bytes = encodeShuffle(count);
  } else if (kind === INDEX) {
    for (let i: u32 = 0; i < count; i++) store<u32>(OFFSETS + (i << 2), indexOf(i));
    pack(OFFSETS, count, width, ORDER);
  }
  setField(ORDER_KIND, kind);
  setField(ORDER_BYTES, bytes);
}

/** Which of the distinct values one is, by its rank or by arrival. */
function indexOfRank(rank: u32): u32 {
  return load<u16>(INDEXES + (rank << 1));
}

function indexOf(i: u32): u32 {
  return load<u16>(<usize>load<u16>(RANKS + (i << 1)), INDEXES);
}

function shuffleBytes(count: u32): u32 {
  let bytes: u32 = 0;
  for (let from: u32 = 0; from < count; from += 32)
    bytes += (min<u32>(32, count - from) * bitsOf(count - 1 - from) + 7) >> 3;
  return bytes;
}

function encodeShuffle(count: u32): u32 {
  // Four swaps a round, because V8 checks the stack in each.
  let at: usize = 0;
  for (; at + 8 <= count << 1; at += 8) {
    exchange(at);
    exchange(at + 2);
    exchange(at + 4);
    exchange(at + 6);
  }
  for (; at < count << 1; at += 2) exchange(at);
  let to = ORDER;
  for (let from: u32 = 0; from < count; from += 32)
    to = pack(OFFSETS + (from << 2), min<u32>(32, count - from), bitsOf(count - 1 - from), to);
  return <u32>(to - ORDER);
}

function exchange(at: usize): void {
  // SORTED: where the value at each place must go. RANKS: where the value for each place is.
  const place = <usize>load<u16>(at, RANKS);
  const goal = <usize>load<u16>(at, SORTED);
  store<u32>(at << 1, <u32>(place - at) >> 1, OFFSETS);
  store<u16>(place, <u16>goal, SORTED);
  store<u16>(goal, <u16>place, RANKS);
}

/** Returns the bytes at SPARSE_ORDER, or too many if the value is not common enough. */
function encodeSparse(count: u32, common: u32, width: u32): u32 {
  let found: u32 = 0;
  let first: u32 = 0;
  let last: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const index = indexOf(i);
    if (index === common) continue;
    if (found === 0) first = i;
    last = i;
    store<u32>(OFFSETS + (found << 2), i - first);
    store<u32>(LOWS + (found << 2), index);
    found++;
  }
  if (found << 3 > count) return u32.MAX_VALUE;
  store<u16>(SPARSE_ORDER, common);
  store<u16>(SPARSE_ORDER, found, 2);
  store<u16>(SPARSE_ORDER, first, 4);
  store<u16>(SPARSE_ORDER, last, 6);
  const groups = encodeSamples(OFFSETS, found, SPARSE_ORDER + 8);
  const indexes = encodeGroups(OFFSETS, found, 0, 0, groups);
  return <u32>(pack(LOWS, found, width, indexes) - SPARSE_ORDER);
}
