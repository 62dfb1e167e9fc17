import type { Column, Kernel, Source } from "../contract.ts";
import { summarize } from "./merge.ts";
import type { Passes } from "./passes.ts";
import { selectRanks } from "./select.ts";
import { streamed } from "./streamed.ts";

/** Makes a kernel of its loops. All kernels share the algorithms above the loops. */
export function kernelOf<H>(passes: Passes<H>): Kernel {
  return {
    name: passes.name,
    summary: (values) => summarize(passes, values),
    pairwiseSum: (values) => passes.pairwiseSum(passes.hold(values)),
    pairwiseSquares: (values, mean) => passes.pairwiseSquares(passes.hold(values), mean),
    sort: (values) => passes.sort(values),
    select: (values, k) => selectRanks(passes, values, [k])?.[0] ?? [Number.NaN, Number.NaN],
    selectMany: (values, ranks) => selectRanks(passes, values, ranks),
    streamed: (source, shares, ranksOf) => streamed(passes, source, shares, ranksOf),
    gather: (source) => gather(passes, source),
    starts: (windows, from, to, scan, out) => passes.starts(windows, from, to, scan, out),
    roll: (piece, tables, out) => passes.roll(piece, tables, out),
    rank: (values, limit) => rankOf(passes, values, limit),
    trim: (times, values, from, to, both, sorted) => trimTo(passes, times, values, from, to, both, sorted),
    wavelet: () => passes.wavelet(),
  };
}

/** A copy of the values inside, in order. */
function gather<H>(passes: Passes<H>, source: Source): Column {
  const maxCount = source.end - source.begin;
  const out = source.wide ? new Float64Array(maxCount) : new Float32Array(maxCount);
  const stream = passes.stream(source, 0, 0);
  let count = 0;
  for (let at = stream.next(); at !== null; at = stream.next()) {
    out.set(passes.view(at.piece), count);
    count += at.count;
  }
  return out.subarray(0, count);
}

/** Counts of the values below `limit` and equal to it. Exact even if f32 cannot represent the limit. */
function rankOf<H>(passes: Passes<H>, values: Column, limit: number): { below: number; equal: number } {
  const held = passes.hold(values);
  const near = values instanceof Float32Array ? Math.fround(limit) : limit;
  const { below, equal } = passes.rank(held, near);
  if (near === limit || Number.isNaN(limit)) return { below, equal };
  // No f32 equals the limit, and none lies between it and its rounding. The values equal to the rounding are on one side.
  return { below: near < limit ? below + equal : below, equal: 0 };
}

const MIN_I64 = -(2n ** 63n);
const MAX_I64 = 2n ** 63n - 1n;

/** Copies the pairs inside (`from` < t <= `to`; with `both`, `from` <= t), in order. Binary search if `sorted`. */
function trimTo<H>(
  passes: Passes<H>,
  times: BigInt64Array,
  values: Column,
  from: bigint,
  to: bigint,
  both: boolean,
  sorted: boolean,
): { times: BigInt64Array; values: Column } {
  const first = both ? from : from + 1n;
  if (first > MAX_I64 || to < MIN_I64 || first > to) return { times: times.slice(0, 0), values: values.slice(0, 0) };
  const begin = first < MIN_I64 ? MIN_I64 : first;
  const end = to > MAX_I64 ? MAX_I64 : to;
  if (!sorted) return passes.trim(times, values, begin, end);
  const start = countBelow(times, begin);
  const stop = end === MAX_I64 ? times.length : countBelow(times, end + 1n);
  return { times: times.slice(start, stop), values: values.slice(start, stop) };
}

/** Count of the times before `limit`. The times never decrease. */
function countBelow(times: BigInt64Array, limit: bigint): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
