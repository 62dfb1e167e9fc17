// The JS form of assembly/blocks/order.ts.
import {
  GROUP,
  MAX_IN_BLOCK,
  ORDER,
  SPARSE_BYTES,
  SPARSE_COMMON_AT,
  SPARSE_FIRST_AT,
  SPARSE_LAST_AT,
  SPARSE_OTHERS_AT,
} from "../../../../generated/layouts/block.ts";
import { shuffleBytes } from "./arrange.ts";
import { bitsOf, pack } from "./bits.ts";
import { encodeGroups, encodeSamples } from "./ladder.ts";

/** By arrival: which of the distinct values it is. */
const indexes = new Uint16Array(MAX_IN_BLOCK);
const codes = new Uint32Array(MAX_IN_BLOCK);
const uncommon = new Uint32Array(MAX_IN_BLOCK);
/** Of a shuffle: where the value at each place must go, and where the value for each place is. */
const goals = new Uint16Array(MAX_IN_BLOCK);
const placeFor = new Uint16Array(MAX_IN_BLOCK);
const sparseBytes = new Uint8Array(8 * MAX_IN_BLOCK);
const sparseView = new DataView(sparseBytes.buffer);

export interface Order {
  kind: number;
  distinct: number;
  bytes: number;
}

/**
 * Writes the order of arrival to bytes that are 0. `sorted`: indexes of values in ascending order.
 * `isRepeated(i)`: whether the values at `sorted[i]` and before it are equal.
 */
export function encodeOrder(
  sorted: Uint16Array,
  count: number,
  isRepeated: (place: number) => boolean,
  bytes: Uint8Array,
  view: DataView,
): Order {
  let index = -1;
  let since = 0;
  let common = 0;
  let commonCount = 0;
  let inOrder = true;
  for (let i = 0; i < count; i++) {
    if (i === 0 || !isRepeated(i)) {
      index++;
      since = i;
    }
    if (i - since >= commonCount) {
      commonCount = i - since + 1;
      common = index;
    }
    indexes[sorted[i]!] = index;
    if (sorted[i] !== i) inOrder = false;
  }
  const distinct = index + 1;
  if (inOrder) return { kind: ORDER.none, distinct, bytes: 0 };
  const width = bitsOf(distinct - 1);
  let least = (count * width + 7) >> 3;
  let sparse = 0;
  const others = count - commonCount;
  if (8 * others <= count) {
    sparse = encodeSparse(count, common, others, width);
    if (sparse < least) least = sparse;
    else sparse = 0;
  }
  if (shuffleBytes(count) < least)
    return { kind: ORDER.permutation, distinct, bytes: encodeShuffle(sorted, count, view) };
  if (sparse > 0) {
    bytes.set(sparseBytes.subarray(0, sparse));
    return { kind: ORDER.sparse, distinct, bytes: sparse };
  }
  return { kind: ORDER.index, distinct, bytes: pack(indexes, 0, count, width, view, 0) };
}

function encodeShuffle(sorted: Uint16Array, count: number, view: DataView): number {
  for (let i = 0; i < count; i++) {
    const index = sorted[i]!;
    goals[i] = index;
    placeFor[index] = i;
  }
  for (let i = 0; i < count; i++) {
    const place = placeFor[i]!;
    const goal = goals[i]!;
    codes[i] = place - i;
    goals[place] = goal;
    placeFor[goal] = place;
  }
  let at = 0;
  for (let from = 0; from < count; from += GROUP)
    at = pack(codes, from, Math.min(GROUP, count - from), bitsOf(count - 1 - from), view, at);
  return at;
}

function encodeSparse(count: number, common: number, others: number, width: number): number {
  sparseBytes.fill(0);
  let found = 0;
  let first = 0;
  let last = 0;
  for (let i = 0; i < count; i++) {
    if (indexes[i] === common) continue;
    if (found === 0) first = i;
    last = i;
    codes[found] = i - first;
    uncommon[found++] = indexes[i]!;
  }
  sparseView.setUint16(SPARSE_COMMON_AT, common, true);
  sparseView.setUint16(SPARSE_OTHERS_AT, others, true);
  sparseView.setUint16(SPARSE_FIRST_AT, first, true);
  sparseView.setUint16(SPARSE_LAST_AT, last, true);
  const groups = encodeSamples(codes, others, sparseView, SPARSE_BYTES);
  const at = encodeGroups(codes, others, codes, 0, sparseView, groups);
  return pack(uncommon, 0, others, width, sparseView, at);
}
