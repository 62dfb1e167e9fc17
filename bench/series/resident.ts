import { type Distribution, draw } from "../distributions.ts";
import { externalBytes } from "../external-bytes.ts";
import { type Contender, type Turns, takeTurns } from "../lock/turns.ts";
import { NumpyProcess, numpyMissing } from "../rivals/python/numpy.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { Feed, ingest } from "./resident-feed.ts";
import { freshRows } from "./resident-fresh.ts";

export interface ResidentOptions {
  /** Events in the window. */
  sizes: readonly number[];
  distributions: readonly Distribution[];
  turns: number;
  /** Queries in a turn; each with one event appended and the clock moved by 1 ms. */
  queries: number;
  numpyRepetitions: number;
  /** The approximate number of events of all measured ingests of one kind. Large windows are filled less often. */
  ingestedEvents: number;
}

export const FULL_RESIDENT: ResidentOptions = {
  sizes: [100_000, 1_000_000, 10_000_000],
  distributions: ["lognormal", "drift"],
  turns: 5,
  queries: 300,
  numpyRepetitions: 2,
  ingestedEvents: 5_000_000,
};
export const SMALL_RESIDENT: ResidentOptions = {
  sizes: [2_000],
  distributions: ["lognormal"],
  turns: 1,
  queries: 5,
  numpyRepetitions: 2,
  ingestedEvents: 2_000,
};

const FRAMES = [1, 32, 1024];
const PERCENTILES = [50, 90, 99];
const NUMPY = "NumPy";
const ALL = "all statistics, p50, p90, p99";
const ONE = "record and p99";

/** `LocalSeries`: query after every event, memory, ingest. */
export async function benchResident(options: ResidentOptions): Promise<Report> {
  const report: Report = {
    bench: "resident",
    title: "A resident window (LocalSeries): one event appended and the clock moved by 1 ms before every query",
    rows: [],
    notes: [
      "The window holds the events of the table, one a millisecond. us: of one append and one query, the mean of a turn, median over turns.",
      `NumPy (hot, its own process, the same events): time mask, trim, then ${ALL}; without an append.`,
      "Ingest writes frames with one stamp each, including closings and one query at the end. pauseMs is the longest time of 1,024 events, median over turns.",
      "A window not asked for before: two random ends, once its queries have built an index. timesRuns: the time from sorted runs over that by the index. Both ways were compared.",
      "bytesPerEvent: typed arrays and WASM memory held after the queries and a garbage collection.",
      "First and last answers were checked against NumPy and against the values that the window holds.",
    ],
  };
  const reason = numpyMissing();
  if (reason) report.notes.push(`NumPy was skipped: ${reason}.`);
  const numpy = reason ? undefined : new NumpyProcess();
  try {
    for (const distribution of options.distributions)
      for (const size of options.sizes) report.rows.push(...(await benchQueries(distribution, size, numpy, options)));
  } finally {
    numpy?.close();
  }
  for (const distribution of options.distributions)
    for (const size of options.sizes)
      report.rows.push(...(await freshRows(distribution, size, options.turns, options.queries)));
  for (const size of options.sizes) {
    const values = draw("lognormal", size, 22);
    const turns = Math.max(1, Math.floor(options.ingestedEvents / size));
    report.rows.push(...ingestRows(values, turns), await doubleRow(values));
  }
  return report;
}

async function benchQueries(
  distribution: Distribution,
  size: number,
  numpy: NumpyProcess | undefined,
  options: ResidentOptions,
): Promise<Row[]> {
  const values = draw(distribution, size + 2 * options.queries * (options.turns + 1), 21);
  new Feed(values, Math.min(size, 1000)).fill().series.stats(); // allocates once what all series share, which is not counted below
  const beforeBytes = await externalBytes();
  const feed = new Feed(values, size).fill();
  const [fromMs, toMs] = [feed.nowMs - size, feed.nowMs];
  const contenders: Contender[] = [
    { name: ALL, turnUs: queries(feed, PERCENTILES, options.queries) },
    { name: ONE, turnUs: queries(feed, [99], options.queries) },
  ];
  if (numpy) {
    await numpy.load(feed.times(), values.slice(0, size));
    checkFirst(feed, (await numpy.run("p2", fromMs, toMs, 1)).answers);
  }
  for (const { turnUs } of contenders) turnUs();
  if (numpy) {
    const turnUs = async () => (await numpy.run("p2", fromMs, toMs, options.numpyRepetitions)).nanoseconds / 1000;
    contenders.unshift({ name: NUMPY, turnUs });
  }
  const turns = await takeTurns(contenders, options.turns);
  checkLast(feed);
  const bytesPerEvent = ((await externalBytes()) - beforeBytes) / size;
  return contenders.map(({ name }) => queryRow(distribution, size, name, turns, bytesPerEvent));
}

function queries(feed: Feed, percentiles: readonly number[], count: number): () => number {
  return () => {
    const startMs = performance.now();
    for (let i = 0; i < count; i++) {
      feed.next();
      feed.series.stats({ percentiles });
    }
    return ((performance.now() - startMs) * 1000) / count;
  };
}

function queryRow(values: Distribution, events: number, name: string, turns: Turns, bytesPerEvent: number): Row {
  return {
    values,
    events,
    what: name === NUMPY ? `NumPy: ${ALL}` : name,
    us: turns.medianUs(name),
    timesFaster: name === ALL ? turns.timesFaster(ALL, NUMPY) : Number.NaN,
    millionPerSecond: Number.NaN,
    pauseMs: Number.NaN,
    bytesPerEvent: name === ALL ? bytesPerEvent : Number.NaN,
  };
}

function ingestRows(values: Float32Array, turns: number): Row[] {
  const runs = FRAMES.map((frame) => ({ frame, elapsedMs: [] as number[], pausesMs: [] as number[] }));
  // Compiled and warm, as everywhere else.
  for (const { frame } of runs) ingest(values.subarray(0, 1_000_000), frame);
  for (let turn = 0; turn < turns; turn++)
    for (const { frame, elapsedMs, pausesMs } of runs) {
      const run = ingest(values, frame);
      elapsedMs.push(run.elapsedMs);
      pausesMs.push(run.longestPauseMs);
    }
  return runs.map(({ frame, elapsedMs, pausesMs }) => ({
    values: "lognormal",
    events: values.length,
    what: frame === 1 ? "ingest one by one" : `ingest in frames of ${frame}`,
    us: (median(elapsedMs) * 1000) / values.length,
    timesFaster: Number.NaN,
    millionPerSecond: values.length / median(elapsedMs) / 1000,
    pauseMs: median(pausesMs),
    bytesPerEvent: Number.NaN,
  }));
}

async function doubleRow(values: Float32Array): Promise<Row> {
  const beforeBytes = await externalBytes();
  const feed = new Feed(values, values.length, "float64").fill();
  feed.series.stats();
  const bytesPerEvent = ((await externalBytes()) - beforeBytes) / feed.spanMs;
  const none = { us: Number.NaN, timesFaster: Number.NaN, millionPerSecond: Number.NaN, pauseMs: Number.NaN };
  return { values: "lognormal", events: values.length, what: "memory, f64", ...none, bytesPerEvent };
}

/** NumPy works in single precision and oriel is exact, so they agree to about five digits. */
function checkFirst(feed: Feed, expected: readonly number[]): void {
  const { count, sum, mean, min, max, std, percentiles } = feed.series.stats({ percentiles: PERCENTILES });
  const answers = [count, sum, mean, min, max, std, ...PERCENTILES.map((p) => percentiles[p] as number)];
  if (answers.some((answer, i) => !(Math.abs(answer / (expected[i] as number) - 1) < 1e-5)))
    throw new Error(`LocalSeries answered ${answers}; NumPy answered ${expected}`);
}

function checkLast(feed: Feed): void {
  const held = feed.series.values() as Float32Array;
  const { count, percentiles } = feed.series.stats({ percentiles: [99] });
  const p99 = sortedPercentile(held, 99);
  if (count !== feed.spanMs || count !== held.length || percentiles[99] !== p99)
    throw new Error(`LocalSeries answered ${count} events, p99 ${percentiles[99]}; right is ${feed.spanMs}, ${p99}`);
}
