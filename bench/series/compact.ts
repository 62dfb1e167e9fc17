import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import { draw } from "../distributions.ts";
import { uniform } from "../events.ts";
import { externalBytes } from "../external-bytes.ts";
import { takeTurns } from "../lock/turns.ts";
import type { Report, Row } from "../runner/report.ts";
import { Feed } from "./resident-feed.ts";

export interface CompactOptions {
  /** Events in the window. */
  sizes: readonly number[];
  /** How many parts of 1 ms values are rounded to; 0: not at all. */
  roundings: readonly number[];
  turns: number;
  /** Queries in a turn, each with one event appended and the clock moved by 1 ms. */
  queries: number;
}

export const FULL_COMPACT: CompactOptions = {
  sizes: [1_000_000, 10_000_000],
  roundings: [1000, 0],
  turns: 9,
  queries: 4000,
};
export const SMALL_COMPACT: CompactOptions = { sizes: [20_000], roundings: [1000], turns: 1, queries: 20 };

const PERCENTILES = [50, 90, 99];
const INDEX_LIMITS = { minEvents: 16_384, patience: 4, eventsPerStep: 8 };
/** Queries before the first turn: they compile the code and complete the index. */
const WARM = 300;

interface Side {
  feed: Feed;
  random: () => number;
  ingestUs: number;
  bytesPerEvent: number;
}

type Query = (side: Side) => WindowStats | number;

const QUERIES: Readonly<Record<string, Query>> = {
  "all statistics, p50, p90, p99": ({ feed }) => feed.series.stats({ percentiles: PERCENTILES }),
  "p99, kept up to date": ({ feed }) => feed.series.percentile(99),
  "a window not asked for before": askAny,
};

/** `LocalSeries` with `compact: true` beside one without: memory, and the time of ingest and of each kind of query. */
export async function benchCompact(options: CompactOptions): Promise<Report> {
  const report: Report = {
    bench: "compact",
    title: "A window in one process: compact, and not",
    rows: [],
    notes: [
      "Lognormal latencies with a median of 5 ms, one event a millisecond. Before each query one event is recorded and one leaves. us: mean of a turn, median over turns. times: median over turns of the two times' ratio.",
      "Bytes: typed arrays after a fill, a query and a garbage collection. The last kind of query builds an index of about 8 bytes an event, which is not counted.",
      "Both forms gave the same answers.",
    ],
  };
  for (const size of options.sizes)
    for (const rounding of options.roundings) report.rows.push(...(await rowsOf(size, rounding, options)));
  return report;
}

async function rowsOf(size: number, rounding: number, { turns, queries }: CompactOptions): Promise<Row[]> {
  const kinds = Object.keys(QUERIES);
  const drawn = draw("lognormal", size + kinds.length * (WARM + turns * queries), 27);
  const values = drawn.map((value) => (rounding ? Math.round(5 * value * rounding) / rounding : 5 * value));
  const shared = { values: rounding ? `to 1/${rounding} ms` : "unrounded", events: size };
  const plain = await sideOf(values, size, false);
  const compact = await sideOf(values, size, true);
  const rows: Row[] = [
    {
      ...{ ...shared, what: "ingest", plainUs: plain.ingestUs, compactUs: compact.ingestUs },
      times: compact.ingestUs / plain.ingestUs,
      ...{ plainBytes: plain.bytesPerEvent, compactBytes: compact.bytesPerEvent },
    },
  ];
  for (const [what, query] of Object.entries(QUERIES)) {
    for (let i = 0; i < WARM; i++) compare(what, next(plain, query), next(compact, query));
    const turnOf = (side: Side) => () => {
      const startMs = performance.now();
      for (let i = 0; i < queries; i++) next(side, query);
      return ((performance.now() - startMs) * 1000) / queries;
    };
    const sides = [
      { name: "plain", turnUs: turnOf(plain) },
      { name: "compact", turnUs: turnOf(compact) },
    ];
    const timed = await takeTurns(sides, turns);
    const times = timed.timesFaster("plain", "compact");
    rows.push({ ...shared, what, plainUs: timed.medianUs("plain"), compactUs: timed.medianUs("compact"), times });
  }
  return rows;
}

async function sideOf(values: Float32Array, size: number, isCompact: boolean): Promise<Side> {
  const beforeBytes = await externalBytes();
  const feed = new Feed(values, size, "float32", INDEX_LIMITS, isCompact);
  const startMs = performance.now();
  feed.fill();
  const ingestUs = ((performance.now() - startMs) * 1000) / size;
  feed.series.stats({ percentiles: PERCENTILES });
  const bytesPerEvent = ((await externalBytes()) - beforeBytes) / size;
  return { feed, random: uniform(28), ingestUs, bytesPerEvent };
}

function next(side: Side, query: Query): WindowStats | number {
  side.feed.next();
  return query(side);
}

function askAny({ feed: { series, nowMs, spanMs }, random }: Side): WindowStats {
  const [from, to] = [random(), random()].sort((a, b) => a - b) as [number, number];
  const span = 1 + Math.floor((to - from) * (spanMs - 1));
  return series.stats({ span, at: nowMs - Math.floor((1 - to) * (spanMs - 1)), percentiles: PERCENTILES });
}

function compare(what: string, one: unknown, other: unknown): void {
  if (JSON.stringify(one) !== JSON.stringify(other))
    throw new Error(`${what}: ${JSON.stringify(one)}, and compact ${JSON.stringify(other)}`);
}
