import { OrielError } from "../../base/errors.ts";
import { bitsOfKey, NUMBER_MASK, PAIR } from "../kernel/blocks/pairs.ts";
import { runKernel } from "../kernel/choose.ts";
import type { Column } from "../kernel/contract.ts";
import { meanOf } from "../kernel/double-double.ts";
import type { Run } from "../stats/runs/run.ts";
import { LateRun } from "./late-run.ts";

/**
 * The sorted pairs of a run, by group, ascending. Values `starts[i]` to before `starts[i + 1]` are those of group `numbers[i]`: ascending,
 * NaN last.
 */
export interface GroupedRun {
  readonly numbers: Uint32Array;
  readonly starts: Uint32Array;
  readonly values: Float32Array;
  /** Of each group's finite values: see `MOMENT`. */
  readonly moments: Float64Array;
  /** Whether all values are finite. */
  readonly areFinite: boolean;
}

/** Where the moments of group i stand, from index `i * MOMENT.size` on. The sum is a double-double. */
export const MOMENT = { count: 0, sumHigh: 1, sumLow: 2, mean: 3, m2: 4, size: 5 } as const;

/** The groups of a run, for as long as it lives. */
const ofRuns = new WeakMap<Run, GroupedRun>();
/** Scratch memory for the pairs of one run. */
let sorted = new Float64Array(0);

/** Takes the pairs of a run apart, once. Throws CORRUPT for values that are no pairs. Cost: some 15 ns a pair, with sorting. */
export function groupedRun(run: Run): GroupedRun {
  const known = ofRuns.get(run);
  if (known) return known;
  if (run.nanCount > 0) throw noPair();
  const { buffer, byteOffset, length } = sortedPairs(run);
  const grouped = separated(new Int32Array(buffer, byteOffset, 2 * length));
  if (!run.isTransient) ofRuns.set(run, grouped);
  return grouped;
}

/** They are valid until the next call. */
function sortedPairs(run: Run): Column {
  if (!(run instanceof LateRun)) return run.part(0, run.length);
  const { arrived } = run;
  if (sorted.length < arrived.length) sorted = new Float64Array(arrived.length);
  const pairs = sorted.subarray(0, arrived.length);
  pairs.set(arrived);
  runKernel().sort(pairs);
  return pairs;
}

/** The key of -Infinity. Below it are those of NaN with a sign, which no event has: they would not be last. */
const LEAST_KEY = 0x007f_ffff;

function noPair(): OrielError {
  return new OrielError("CORRUPT", "it holds an event without a group");
}

function separated(halves: Int32Array): GroupedRun {
  const count = halves.length >> 1;
  const values = new Float32Array(count);
  const bits = new Int32Array(values.buffer);
  const numbers: number[] = [];
  const starts: number[] = [];
  let last = 0;
  for (let i = 0; i < count; i++) {
    const key = halves[2 * i]!;
    const high = halves[2 * i + 1]!;
    bits[i] = bitsOfKey(key);
    if (high === last) continue;
    if ((high & ~NUMBER_MASK) !== PAIR || key >>> 0 < LEAST_KEY) throw noPair();
    last = high;
    numbers.push(high & NUMBER_MASK);
    starts.push(i);
  }
  starts.push(count);
  const moments = new Float64Array(MOMENT.size * numbers.length);
  let finite = 0;
  for (let i = 0; i < numbers.length; i++) finite += writeMoments(values, starts[i]!, starts[i + 1]!, moments, i);
  const areFinite = finite === count;
  return { numbers: Uint32Array.from(numbers), starts: Uint32Array.from(starts), values, moments, areFinite };
}

/** Returns the number of finite values. The sum is compensated by TwoSum (Knuth). */
function writeMoments(values: Float32Array, first: number, last: number, moments: Float64Array, i: number): number {
  let [from, to] = [first, last];
  while (from < to && values[from] === Number.NEGATIVE_INFINITY) from++;
  while (to > from && !Number.isFinite(values[to - 1])) to--;
  let high = 0;
  let low = 0;
  for (let at = from; at < to; at++) {
    const value = values[at]!;
    const sum = high + value;
    const part = sum - high;
    low += high - (sum - part) + (value - part);
    high = sum;
  }
  const mean = meanOf(high, low, to - from);
  // Two sums, because the processor can then add both at once.
  let m2 = 0;
  let odd = 0;
  let at = from;
  for (; at + 1 < to; at += 2) {
    const one = values[at]! - mean;
    const other = values[at + 1]! - mean;
    m2 += one * one;
    odd += other * other;
  }
  if (at < to) m2 += (values[at]! - mean) ** 2;
  const begin = i * MOMENT.size;
  moments[begin + MOMENT.count] = to - from;
  moments[begin + MOMENT.sumHigh] = high;
  moments[begin + MOMENT.sumLow] = low;
  moments[begin + MOMENT.mean] = to > from ? mean : 0;
  moments[begin + MOMENT.m2] = m2 + odd;
  return to - from;
}
