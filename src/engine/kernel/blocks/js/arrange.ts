// The JS form of assembly/blocks/arrange.ts.
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
import { bitsOf, getBits } from "./bits.ts";
import { decodeGroups, decodeSamples, groupsOf } from "./ladder.ts";

const ranks = new Uint32Array(MAX_IN_BLOCK);
/** The first rank of each distinct value. */
const starts = new Uint16Array(MAX_IN_BLOCK);
const places = new Uint32Array(MAX_IN_BLOCK + GROUP);

let lastCount = 0;
let lastBytes = 0;

/**
 * The rank of each value by arrival, in memory that the next call uses again, or undefined if the order is damaged. The order
 * begins at `at`. `isRepeated(i)`: whether the values of ranks i and i - 1 are equal.
 */
export function ranksOf(
  kind: number,
  count: number,
  distinct: number,
  view: DataView,
  at: number,
  isRepeated: (rank: number) => boolean,
): Uint32Array | undefined {
  if (kind === ORDER.permutation) {
    for (let i = 0; i < count; i++) ranks[i] = i;
    return shuffle(ranks, count, view, at) ? ranks : undefined;
  }
  let found = 0;
  for (let i = 0; i < count; i++) if (i === 0 || !isRepeated(i)) starts[found++] = i;
  if (found !== distinct) return undefined;
  const width = bitsOf(distinct - 1);
  if (kind === ORDER.sparse) return scattered(count, distinct, width, view, at);
  const mask = (1 << width) - 1;
  for (let i = 0, bit = 8 * at; i < count; i++, bit += width) {
    // At most 10 bits, so one read has them.
    const index = (view.getUint32(bit >> 3, true) >>> (bit & 7)) & mask;
    if (index >= distinct) return undefined;
    ranks[i] = starts[index]!;
  }
  return ranks;
}

/** Brings items from sorted order into order of arrival, by the codes at `at`. False if these are damaged. */
export function shuffle(items: Uint32Array, count: number, view: DataView, at: number): boolean {
  for (let from = 0, bit = 8 * at; from < count; from += GROUP) {
    const width = bitsOf(count - 1 - from);
    const mask = (1 << width) - 1;
    const to = Math.min(count, from + GROUP);
    for (let i = from; i < to; i++, bit += width) {
      // At most 10 bits, so one read has them.
      const j = i + ((view.getUint32(bit >> 3, true) >>> (bit & 7)) & mask);
      if (j >= count) return false;
      const item = items[i]!;
      items[i] = items[j]!;
      items[j] = item;
    }
  }
  return true;
}

function scattered(
  count: number,
  distinct: number,
  width: number,
  view: DataView,
  at: number,
): Uint32Array | undefined {
  const common = view.getUint16(at + SPARSE_COMMON_AT, true);
  const others = view.getUint16(at + SPARSE_OTHERS_AT, true);
  const first = view.getUint16(at + SPARSE_FIRST_AT, true);
  const last = view.getUint16(at + SPARSE_LAST_AT, true);
  if (common >= distinct || others === 0 || others > count || first > last || last >= count) return undefined;
  const { end } = decodeSamples(view, at + SPARSE_BYTES, others, last - first);
  if (end < 0) return undefined;
  const indexes = decodeGroups(view, end, others, 0, groupsOf(others), 0, places, places);
  if (indexes < 0) return undefined;
  ranks.fill(starts[common]!, 0, count);
  for (let i = 0; i < others; i++) {
    const place = first + places[i]!;
    const index = getBits(view, 8 * indexes + i * width, width);
    if (place >= count || index >= distinct) return undefined;
    ranks[place] = starts[index]!;
  }
  return ranks;
}

/** Bytes of the codes of a shuffle. Blocks of one size follow each other, so the last answer is kept. */
export function shuffleBytes(count: number): number {
  if (count === lastCount) return lastBytes;
  let bytes = 0;
  for (let from = 0; from < count; from += GROUP)
    bytes += (Math.min(GROUP, count - from) * bitsOf(count - 1 - from) + 7) >> 3;
  lastCount = count;
  lastBytes = bytes;
  return bytes;
}
