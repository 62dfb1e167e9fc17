import { OrielError } from "../../../base/errors.ts";
import { Series } from "../../../engine/series/series.ts";
import { csvOf } from "../csv.ts";
import type { RowNumbers } from "../protocol.ts";
import type { Listed, Scope } from "../scope.ts";
import { distributionOf } from "../series/distribution.ts";
import { finite, rateOf } from "../series/numbers.ts";
import { viewOf } from "../series/view.ts";
import { windowOf } from "../series/window.ts";
import type { DashboardKind } from "./kind.ts";

/** The copies of all series that the dashboard reads. 14 bytes an event, so 9.5 million events. */
const MAX_BYTES = 128 << 20;
const SPARKS = 24;

/** Series: rate, exact percentiles, heat map, distribution. Each number is an answer of `Series`. */
export const seriesKind: DashboardKind = {
  kind: "Series",
  columns: ["rate", "p50", "p90", "p99", "max"],
  async numbers(scope, structure, spanMs): Promise<RowNumbers> {
    const series = seriesOf(scope, structure);
    const span = Math.min(spanMs, retentionMsOf(structure));
    const { to } = await series.stats({ span, percentiles: [] });
    const partMs = Math.ceil(span / SPARKS);
    const ends = Array.from({ length: SPARKS }, (_, i) => to - (SPARKS - 1 - i) * partMs);
    const [whole, ...parts] = await Promise.all([
      series.stats({ span, at: to, maxAge: "1s" }),
      ...ends.map((at) => series.stats({ span: partMs, at, percentiles: [], maxAge: "1s" })),
    ]);
    const { percentiles } = whole;
    return {
      rate: rateOf(whole.count, span),
      p50: finite(percentiles[50]),
      p90: finite(percentiles[90]),
      p99: finite(percentiles[99]),
      max: finite(whole.max),
      spark: parts.map(({ count }) => count),
    };
  },
  parts: {
    async view(scope, structure, query) {
      const series = seriesOf(scope, structure);
      const body = await bounded(async () => viewOf(series, await windowOf(series, retentionMsOf(structure), query)));
      return {
        body,
        csv: () => {
          const { endsMs, count, rate, p50, p90, p99, max } = body;
          const rows = endsMs.map((endMs, i) => [
            new Date(endMs).toISOString(),
            ...[count, rate, p50, p90, p99, max].map((column) => column[i] ?? null),
          ]);
          return csvOf(["end", "count", "rate", "p50", "p90", "p99", "max"], rows);
        },
      };
    },
    async distribution(scope, structure, query) {
      const series = seriesOf(scope, structure);
      const body = await bounded(async () =>
        distributionOf(series, await windowOf(series, retentionMsOf(structure), query)),
      );
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

function retentionMsOf({ settings }: Listed): number {
  const { retention } = settings;
  return typeof retention === "number" && retention >= 1 ? retention : 3_600_000;
}

function seriesOf(scope: Scope, structure: Listed): Series {
  const open = ({ name, settings: { values, clock } }: Listed) =>
    new Series(scope.store, name, {
      retention: retentionMsOf(structure),
      values: values === "float64" ? "float64" : "float32",
      clock: clock === "event" ? "event" : "server",
      nan: "ignore",
      maxResidentBytes: MAX_BYTES,
    });
  return scope.opened(structure, open, (series) => series.close());
}

/** Says what to do about a window that is too large. */
async function bounded<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof OrielError) || error.code !== "TOO_LARGE") throw error;
    const millions = (MAX_BYTES / 14 / 1e6).toFixed(1);
    throw new OrielError(
      "TOO_LARGE",
      `this window has more events than the dashboard reads at once (${millions} million); choose a shorter span`,
      { cause: error },
    );
  }
}
