import type { Reading } from "../../src/command/formats/reading.ts";

export interface ReplayLaw {
  spanMs: number;
  everyMs: number;
  latenessMs: number;
  closed: "right" | "both";
  percentiles: readonly number[];
  /** Also the windows without events, of each key that was read before, at a time up to the window's end. */
  empty?: boolean;
}

export interface ExpectedRow {
  endMs: number;
  key: string | null;
  count: number;
  sum: number;
  mean: number;
  min: number;
  max: number;
  std: number;
  percentiles: number[];
}

export interface ExpectedReplay {
  rows: ExpectedRow[];
  lateCount: number;
  lostCount: number;
}

/**
 * The expected output of a replay, from the definition alone. For every multiple T of `every`, find the first event whose
 * time - lateness is above T. The window holds the events read before that one that the window law admits.
 */
export function bruteForceReplay(readings: readonly Reading[], law: ReplayLaw): ExpectedReplay {
  const times = readings.map(({ atMs }) => atMs);
  const byTime = times.map((_, index) => index).sort((a, b) => times[a]! - times[b]! || a - b);
  const sorted = byTime.map((index) => times[index]!);
  const [earliest, latest] = [sorted[0]!, sorted.at(-1)!];
  let closing = 0;
  const keys = [...new Set(readings.map(({ key }) => key))].sort();
  const rows: ExpectedRow[] = [];
  const missed = new Uint8Array(readings.length);
  const counted = new Uint8Array(readings.length);
  const lastEnd = Math.ceil(latest / law.everyMs) * law.everyMs;
  for (
    let endMs = Math.ceil(earliest / law.everyMs) * law.everyMs;
    endMs <= lastEnd + law.spanMs;
    endMs += law.everyMs
  ) {
    // No later window ends before this one. So the first event that closes it stands no earlier than the last one's.
    while (closing < times.length && times[closing]! - law.latenessMs <= endMs) closing++;
    const closedAt = endMs > lastEnd ? readings.length : closing;
    const near = byTime
      .slice(firstFrom(sorted, endMs - law.spanMs), firstFrom(sorted, endMs + 1))
      .sort((a, b) => a - b);
    const admitted = near.filter((index) => isInside(times[index]!, endMs, law));
    if (!law.empty && admitted.length === 0) continue;
    const inside: Reading[] = [];
    for (const index of admitted) {
      if (index < closedAt) {
        inside.push(readings[index]!);
        counted[index] = 1;
      } else missed[index] = 1;
    }
    if (endMs > lastEnd) continue; // ends after the input: it is not printed, but an event may still belong to it
    for (const key of keys) {
      const values = inside.filter((reading) => reading.key === key).map(({ value }) => value);
      const isKnown = () => readings.slice(0, closedAt).some((reading) => reading.key === key && reading.atMs <= endMs);
      if (values.length > 0 || (law.empty && isKnown()))
        rows.push({ endMs, key, ...bruteForceStats(values, law.percentiles) });
    }
  }
  const count = (wanted: number) => missed.reduce((sum, flag, i) => sum + (flag && counted[i] === wanted ? 1 : 0), 0);
  return { rows, lateCount: count(1), lostCount: count(0) };
}

/** The place of the first time that is not before `fromMs`. */
function firstFrom(sorted: readonly number[], fromMs: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function isInside(
  atMs: number,
  endMs: number,
  { spanMs, closed }: Pick<ReplayLaw, "spanMs" | "closed">,
): boolean {
  return atMs <= endMs && (closed === "both" ? atMs >= endMs - spanMs : atMs > endMs - spanMs);
}

/** Sorting and adding up, compensated; percentiles by NumPy's `linear`. */
export function bruteForceStats(values: readonly number[], percentiles: readonly number[]) {
  const sorted = Float64Array.from(values).sort();
  const sum = exactSum(sorted);
  const mean = sum / sorted.length;
  const variance = exactSum(sorted.map((value) => (value - mean) ** 2)) / sorted.length;
  return {
    count: sorted.length,
    sum,
    mean,
    min: sorted[0] as number,
    max: sorted.at(-1) as number,
    std: Math.sqrt(variance),
    percentiles: percentiles.map((percentile) => linearPercentile(sorted, percentile)),
  };
}

function linearPercentile(sorted: Float64Array, percentile: number): number {
  const hundredThousandths = (sorted.length - 1) * Math.round(percentile * 1000); // whole: no rounding before the weight
  const lower = Math.floor(hundredThousandths / 100_000);
  const weight = (hundredThousandths % 100_000) / 100_000;
  const a = sorted[lower] as number;
  const b = sorted[Math.min(lower + 1, sorted.length - 1)] as number;
  return weight >= 0.5 ? b - (b - a) * (1 - weight) : a + (b - a) * weight;
}

/** Neumaier's sum. */
function exactSum(values: Iterable<number>): number {
  let sum = 0;
  let correction = 0;
  for (const value of values) {
    const next = sum + value;
    correction += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + correction;
}
