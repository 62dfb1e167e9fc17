import { LocalSeries, redisStore, Series, type Timeline } from "../../src/entries/index.ts";
import { latencies } from "../events.ts";
import { type Bucketed, type BucketLibrary, bucketsBy, bucketsMissing } from "../rivals/buckets.ts";
import { median, percentile } from "../runner/measure.ts";
import type { Report } from "../runner/report.ts";

export interface TimelineBenchOptions {
  events: readonly number[];
  buckets: number;
  repetitions: number;
  /** Questions before those that are measured: the index of windows is built by them. */
  warmups: number;
}

export const FULL_TIMELINE: TimelineBenchOptions = {
  ...{ events: [10_000, 100_000, 1_000_000], buckets: 60, repetitions: 21, warmups: 60 },
};
export const SMALL_TIMELINE: TimelineBenchOptions = { events: [2000], buckets: 10, repetitions: 2, warmups: 2 };

const SPAN_MS = 3_600_000;
const PERCENTILES = [50, 90, 99] as const;
const BATCH = 50_000;

type Answer = Pick<Timeline, "counts"> & { p99s: ArrayLike<number> };

/** Measures the statistics and three percentiles of each bucket of an hour. */
export async function benchTimeline(redisUrl: string, options: TimelineBenchOptions): Promise<Report> {
  const libraries = (["pandas", "duckdb"] as const).map((library) => [library, bucketsMissing(library)] as const);
  const report: Report = {
    bench: "timeline",
    title: "Each of 60 buckets of an hour: count, sum, mean, extremes, p50, p90, p99",
    rows: [],
    notes: [
      "ms is the median of a question. times is that of one cold read: a process without a copy, which fetches it and answers one window of the hour.",
      "pandas (resample) and DuckDB have the events in the memory of their own process. Every count and p99 was checked.",
      ...libraries.flatMap(([library, missing]) => (missing ? [`${library} was skipped: ${missing}`] : [])),
    ],
  };
  const rivals = libraries.filter(([, missing]) => !missing).map(([library]) => library);
  for (const events of options.events) report.rows.push(...(await measure(redisUrl, events, rivals, options)));
  return report;
}

async function measure(
  redisUrl: string,
  count: number,
  rivals: readonly BucketLibrary[],
  { buckets, repetitions, warmups }: TimelineBenchOptions,
) {
  const toMs = Date.now() - 1000;
  const times = Float64Array.from({ length: count }, (_, i) => toMs - SPAN_MS + 1 + Math.floor((i * SPAN_MS) / count));
  const events: Bucketed = { values: latencies(count, 5), times, toMs, everyMs: SPAN_MS / buckets };
  const asked = { span: SPAN_MS, every: events.everyMs, at: toMs, percentiles: PERCENTILES };
  const checked = checkOf(events);
  const check = ({ counts, percentiles }: Timeline<50 | 90 | 99>) => checked({ counts, p99s: percentiles[99] });
  const store = redisStore(redisUrl, { deadline: "30s" });
  const name = `bench timeline ${count}`;
  const settings = { retention: 2 * SPAN_MS };
  const writer = new Series(store, name, settings);
  for (let from = 0; from < count; from += BATCH) {
    const [values, at] = [events.values, times].map((column) => column.subarray(from, from + BATCH));
    await writer.recordMany(values!, { at: at! });
  }
  const local = new LocalSeries({ retention: 2 * SPAN_MS, clock: () => toMs });
  local.recordMany(events.values, { at: times });
  const fresh = async <T>(ask: (series: Series) => Promise<T>, isCopied = false) => {
    const series = new Series(store, name, { ...settings, onStoreError: isCopied ? "local" : "throw" });
    const startMs = performance.now();
    const answer = await ask(series);
    const ms = performance.now() - startMs;
    await series.close();
    return [ms, answer] as const;
  };
  const timed = async (ask: () => Promise<Timeline<50 | 90 | 99>> | Timeline<50 | 90 | 99>) => {
    const startMs = performance.now();
    const answer = await ask();
    const ms = performance.now() - startMs;
    check(answer);
    return ms;
  };
  for (let i = 0; i < warmups; i++) await timed(() => local.timeline(asked));
  for (let i = 0; i < warmups; i++) await timed(() => writer.timeline(asked));
  const ms: Record<string, number[]> = { local: [], copy: [], cold: [], read: [] };
  for (let turn = 0; turn < repetitions; turn++) {
    ms.local!.push(await timed(() => local.timeline(asked)));
    ms.copy!.push(await timed(() => writer.timeline(asked)));
    const [coldMs, answer] = await fresh((series) => series.timeline(asked));
    check(answer);
    ms.cold!.push(coldMs);
    ms.read!.push((await fresh((series) => series.stats({ span: SPAN_MS, at: toMs }), true))[0]);
  }
  await writer.delete();
  await writer.close();
  await store.close();
  const row = (by: string, each: number) => ({ events: count, by, ms: each, times: each / median(ms.read!) });
  const rows = [
    row("LocalSeries", median(ms.local!)),
    row("Series with a copy", median(ms.copy!)),
    row("Series without a copy", median(ms.cold!)),
    row("one window without a copy", median(ms.read!)),
  ];
  for (const library of rivals) {
    const { ms: each, counts, p99s } = await bucketsBy(library, events, repetitions);
    checked({ counts: Float64Array.from(counts), p99s });
    rows.push(row(library, each));
  }
  return rows;
}

/** Compares an answer with the events of each bucket, sorted. */
function checkOf({ values, times, toMs, everyMs }: Bucketed): (answer: Answer) => void {
  const inBuckets = new Map<number, number[]>();
  for (const [i, t] of times.entries()) {
    const bucket = Math.ceil((t - toMs) / everyMs);
    const its = inBuckets.get(bucket) ?? [];
    its.push(values[i]!);
    inBuckets.set(bucket, its);
  }
  const expected = [...inBuckets]
    .sort(([a], [b]) => a - b)
    .map(([, its]) => [its.length, percentile(its, 99)] as const);
  return ({ counts, p99s }) => {
    const isRight = ([count, p99]: readonly [number, number], i: number) =>
      counts[i] === count && Math.abs(p99s[i]! - p99) <= 1e-6 * p99;
    if (counts.length !== expected.length || !expected.every(isRight))
      throw new Error(`a timeline of ${counts.length} buckets is wrong; right are ${expected.length}`);
  };
}
