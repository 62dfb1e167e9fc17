import { OrielError } from "../../base/errors.ts";
import { Series } from "../../engine/series/series.ts";
import type { SeriesOptions } from "../../engine/series/series-options.ts";
import { ShardedSeries } from "../../engine/shards/sharded-series.ts";
import { csvOf } from "../dashboard/csv.ts";
import type { Distribution, RowNumbers } from "../dashboard/protocol.ts";
import {
  type AnySeries,
  type AskedWindow,
  binsOf,
  finite,
  rateOf,
  viewCsv,
  viewOf,
  windowNumbers,
  windowOf,
} from "../dashboard/series/view.ts";
import type { Kind } from "./kind.ts";
import type { Described, Identified, Open, Scope } from "./scope.ts";

/** The copies of all series that the dashboard reads. */
export const MAX_BYTES = 128 << 20;
/** Of a copy. */
const EVENT_BYTES = 14;
/** All who watch one list share the answers. */
export const MAX_AGE = "1s";

/** A series, or one with shards. */
const openSeries: Open<AnySeries> = (store, structure) => {
  const { values, clock } = structure.settings;
  const options: SeriesOptions = {
    retention: retentionMsOf(structure),
    values: values === "float64" ? "float64" : "float32",
    clock: clock === "event" ? "event" : "server",
    nan: "ignore",
    maxResidentBytes: MAX_BYTES,
  };
  const shards = shardsOf(structure);
  if (shards === undefined) return new Series(store, structure.name, options);
  return new ShardedSeries(store, structure.name, { ...options, shards });
};

/** The number of shards; undefined without. Throws UNAVAILABLE if they are on a list of servers, of which only one is known. */
export function shardsOf({ settings: { shards, servers } }: Described): number | undefined {
  if (servers !== undefined)
    throw new OrielError("UNAVAILABLE", `its events are on ${servers} servers, and this store is one of them`);
  return typeof shards === "number" ? shards : undefined;
}

/** Series: rate, exact percentiles, heat map, distribution. Each number is an answer of `Series`. */
export const seriesKind: Kind = {
  open: openSeries,
  columns: ["spark", "rate", "p50", "p90", "p99", "max"],
  async numbers(scope, structure, { spanMs, parts: count }): Promise<RowNumbers> {
    const series = seriesOf(scope, structure);
    const span = Math.min(spanMs, retentionMsOf(structure));
    const { to } = await series.stats({ span, percentiles: [] });
    const partMs = Math.ceil(span / count);
    const ends = Array.from({ length: count }, (_, i) => to - (count - 1 - i) * partMs);
    const [whole, ...parts] = await Promise.all([
      series.stats({ span, at: to, maxAge: MAX_AGE }),
      ...ends.map((at) => series.stats({ span: partMs, at, percentiles: [], maxAge: MAX_AGE })),
    ]);
    const { percentiles } = whole;
    return {
      rate: rateOf(whole.count, span),
      p50: finite(percentiles[50]),
      p90: finite(percentiles[90]),
      p99: finite(percentiles[99]),
      max: finite(whole.max),
      spark: parts.map(({ count }) => count),
      state: whole.degraded ? `incomplete: ${whole.degradedBy}` : "",
    };
  },
  parts: {
    async view(scope, structure, query) {
      const series = seriesOf(scope, structure);
      const asked = () => windowOf(series, retentionMsOf(structure), query);
      const body = await bounded(EVENT_BYTES, async () => viewOf(series, await asked()));
      return { body, csv: () => viewCsv(body) };
    },
    async distribution(scope, structure, query) {
      const series = seriesOf(scope, structure);
      const asked = () => windowOf(series, retentionMsOf(structure), query);
      const body = await bounded(EVENT_BYTES, async () => distributionOf(series, await asked()));
      return {
        body,
        csv: () =>
          csvOf(
            ["percentile", "value"],
            body.percentiles.map(({ p, value }) => [p, value]),
          ),
      };
    },
  },
  actions: {},
};

export function retentionMsOf({ settings }: Described): number {
  const { retention } = settings;
  return typeof retention === "number" && retention >= 1 ? retention : 3_600_000;
}

export function seriesOf(scope: Scope, structure: Identified): AnySeries {
  return scope.opened(structure, openSeries, (series) => series.close());
}

/** Says what to do about a window that is too large. A copy has this many bytes for each event. */
export async function bounded<T>(eventBytes: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof OrielError) || error.code !== "TOO_LARGE") throw error;
    const millions = (MAX_BYTES / eventBytes / 1e6).toFixed(1);
    throw new OrielError(
      "TOO_LARGE",
      `this window has more events than the dashboard reads at once (${millions} million); choose a shorter span`,
      { cause: error },
    );
  }
}

const BINS = 64;
/** All whole percentiles, and more of them near the maximum. */
const PERCENTILES = [
  ...Array.from({ length: 100 }, (_, p) => p),
  ...Array.from({ length: 9 }, (_, i) => 99 + (i + 1) / 10),
  99.95,
  99.99,
  100,
];

/** The exact distribution of one window. */
async function distributionOf(series: AnySeries, { fromMs, toMs, below }: AskedWindow): Promise<Distribution> {
  const window = { span: toMs - fromMs, at: toMs };
  const [stats, share] = await Promise.all([
    series.stats({ ...window, percentiles: PERCENTILES }),
    below === undefined ? undefined : series.fractionBelow(below, window),
  ]);
  const percentiles = PERCENTILES.map((p) => ({ p, value: finite(stats.percentiles[p]) }));
  const bins = binsOf(Object.values(stats.percentiles), BINS);
  return {
    window: windowNumbers(stats, share),
    percentiles,
    histogram: bins ? { edges: bins.edges, isLog: bins.isLog, counts: await bins.counts(series, window) } : null,
  };
}
