import { Series } from "../../../entries/index.ts";
import { asTyped, exact } from "../../../operate/format.ts";
import { type OpenView, setting } from "./view.ts";

/** Copies of all series that `top` shows together. */
const MAX_RESIDENT_BYTES = 256 << 20;
const DEFAULT_RETENTION_MS = 3_600_000;
/** All who watch `top` share the answers. */
const MAX_AGE_MS = 1000;

/** Statistics of the last `longestMs`, or of the retention if the registry lists a shorter one. */
export const seriesView: OpenView = (store, found, options) => {
  const { spanMs: longestMs, percentiles, values, clock, retentionMs, isOverview } = options;
  const listedMs = retentionMs ?? setting<number>(found, "retention");
  const spanMs = Math.min(longestMs, retentionMs === undefined ? (listedMs ?? longestMs) : longestMs);
  const series = new Series(store, found.name, {
    retention: listedMs ?? Math.max(spanMs, DEFAULT_RETENTION_MS),
    values: (values ?? setting(found, "values")) as "float32" | "float64" | undefined,
    clock: (clock ?? setting(found, "clock")) as "server" | "event" | undefined,
    maxResidentBytes: MAX_RESIDENT_BYTES,
  });
  return {
    async read() {
      const stats = await series.stats({ span: spanMs, percentiles, maxAge: isOverview ? MAX_AGE_MS : 0 });
      const { count, sum, mean, min, max, std, degraded, degradedBy } = stats;
      const rate = (count * 1000) / spanMs;
      const ranks = percentiles.map((p) => [p, stats.percentiles[p] ?? Number.NaN] as const);
      return {
        facts: [
          ["count", `${exact(count)} in ${asTyped(spanMs)}`],
          ["rate", `${exact(rate)}/s`],
          ...Object.entries({ sum, mean, min, max, std }).map(([name, value]) => [name, exact(value)] as const),
          ...ranks.map(([p, value]) => [`p${p}`, exact(value)] as const),
          ...(degraded ? ([["incomplete", degradedBy ?? ""]] as const) : []),
        ],
        json: { ...stats, rate, spanMs },
        overview: {
          rate,
          p99: stats.percentiles[99],
          state: degraded ? `incomplete: ${degradedBy}` : "",
        },
      };
    },
    close: () => series.close(),
  };
};
