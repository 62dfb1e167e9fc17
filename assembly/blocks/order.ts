// Law: the order of arrival takes the fewest bytes. Of equal forms it is the first of these: none, index, sparse, permutation.
import { bitsOf, pack } from "./bits";
import { DISTINCT_COUNT, IN_ORDER, INDEX, ORDER_BYTES, ORDER_KIND, PERMUTATION, SPARSE, setField } from "./fields";
import { encodeGroups, encodeSamples } from "./ladder";
import { ARRIVAL, DISTINCT, LOWS, OFFSETS, ORDER, PLACES, RANKS, SORTED, SPARSE_ORDER } from "./places";

/** The common value's index, and its number. */
let common: u32 = 0;
let commonCount: u32 = 0;

/** Writes the order to ORDER. */
export function encodeOrder<K>(count: u32): void {
  const distinct = rankDistinct<K>(count);
  setField(DISTINCT_COUNT, distinct);
  let inOrder = true;
  for (let i: u32 = 0; i < count && inOrder; i++) inOrder = load<u16>(SORTED + (i << 1)) === i;
  setField(ORDER_KIND, IN_ORDER);
  setField(ORDER_BYTES, 0);
  if (inOrder) return;
  const width = bitsOf(distinct - 1);
  const indexBytes = (count * width + 7) >> 3;
  let kind = INDEX;
  let bytes = indexBytes;
  const others = count - commonCount;
  if (others << 3 <= count) {
    const sparseBytes = encodeSparse(count, others, width);
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
    for (let i: u32 = 0; i < count; i++) store<u32>(OFFSETS + (i << 2), load<u16>(RANKS + (i << 1)));
    pack(OFFSETS, count, width, ORDER);
  }
  setField(ORDER_KIND, kind);
  setField(ORDER_BYTES, bytes);
}

/** Writes to RANKS, by arrival, the indexes into distinct values. Returns the number of distinct values. */
function rankDistinct<K>(count: u32): u32 {
  let index: i32 = -1;
  let last: K = 0;
  let since: u32 = 0;
  commonCount = 0;
  for (let i: u32 = 0; i < count; i++) {
    const arrived = <u32>load<u16>(SORTED + (i << 1));
    const value = load<K>(ARRIVAL + arrived * sizeof<K>());
    if (i === 0 || value !== last) {
      index++;
      since = i;
      last = value;
    }
    if (i - since >= commonCount) {
      commonCount = i - since + 1;
      common = index;
    }
    store<u16>(RANKS + (arrived << 1), index);
  }
  return index + 1;
}

function shuffleBytes(count: u32): u32 {
  let bytes: u32 = 0;
  for (let from: u32 = 0; from < count; from += 32)
    bytes += (min<u32>(32, count - from) * bitsOf(count - 1 - from) + 7) >> 3;
  return bytes;
}

function encodeShuffle(count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    // DISTINCT has the rank at each place now, PLACES the place of each rank, RANKS the rank that each place must get.
    store<u16>(DISTINCT + (i << 1), i);
    store<u16>(PLACES + (i << 1), i);
    store<u16>(RANKS + ((<u32>load<u16>(SORTED + (i << 1))) << 1), i);
  }
  for (let i: u32 = 0; i < count; i++) {
    const place = <u32>load<u16>(PLACES + ((<u32>load<u16>(RANKS + (i << 1))) << 1));
    const moved = <u32>load<u16>(DISTINCT + (i << 1));
    store<u32>(OFFSETS + (i << 2), place - i);
    store<u16>(DISTINCT + (place << 1), moved);
    store<u16>(PLACES + (moved << 1), place);
  }
  let to = ORDER;
  for (let from: u32 = 0; from < count; from += 32)
    to = pack(OFFSETS + (from << 2), min<u32>(32, count - from), bitsOf(count - 1 - from), to);
  return <u32>(to - ORDER);
}

function encodeSparse(count: u32, others: u32, width: u32): u32 {
  let found: u32 = 0;
  let first: u32 = 0;
  let last: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const index = <u32>load<u16>(RANKS + (i << 1));
    if (index === common) continue;
    if (found === 0) first = i;
    last = i;
    store<u32>(OFFSETS + (found << 2), i - first);
    store<u32>(LOWS + (found << 2), index);
    found++;
  }
  store<u16>(SPARSE_ORDER, common);
  store<u16>(SPARSE_ORDER, others, 2);
  store<u16>(SPARSE_ORDER, first, 4);
  store<u16>(SPARSE_ORDER, last, 6);
  const groups = encodeSamples(OFFSETS, others, SPARSE_ORDER + 8);
  const indexes = encodeGroups(OFFSETS, others, 0, 0, groups);
  return <u32>(pack(LOWS, others, width, indexes) - SPARSE_ORDER);
}
