import type { Kernel } from "../contract.ts";
import { gather } from "./gather.ts";
import type { Passes } from "./passes.ts";
import { rankOf } from "./rank.ts";
import { selectRanks } from "./select.ts";
import { streamed } from "./streamed.ts";
import { summarize } from "./summary.ts";
import { trimTo } from "./trim.ts";

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
