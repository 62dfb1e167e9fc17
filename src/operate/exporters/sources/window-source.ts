import { argumentError, show } from "../../../base/errors.ts";
import { settingsOf } from "../../../base/options.ts";
import { atSite } from "../../../base/site.ts";
import type { MetricView } from "../../../metrics/window/metric-view.ts";
import { type MetricInfo, type MetricsSource, nameLabel, type Sample, seconds, spanLabel } from "../metric.ts";
import { PERCENTILES } from "../options.ts";

/** The windows of this process by their names. */
export type NamedWindows = Readonly<Record<string, MetricView>> | ReadonlyMap<string, MetricView>;

/** Options of `windowSource`. */
export interface WindowSourceOptions {
  /**
   * Percentiles of response times, 0 to 100 each. Default 50, 90 and 99 of the windows that keep response times (their
   * option `percentiles`). If given, every window must keep them.
   */
  percentiles?: readonly number[] | undefined;
}

/** Gauges of `MetricWindow`s. Each process reports its own, so sums over processes are correct. Throws ARGUMENT. */
export function windowSource(windows: NamedWindows, options: WindowSourceOptions = {}): MetricsSource {
  return atSite("windowSource", () => {
    const { percentiles } = settingsOf({ percentiles: PERCENTILES }, options);
    if (windows === null || typeof windows !== "object")
      throw argumentError("windows", windows, "windows by their names");
    const known = windows instanceof Map ? [...windows] : Object.entries(windows);
    for (const [name, view] of known)
      if (typeof view?.latencyPercentileMs !== "function")
        throw argumentError(`windows[${show(name)}]`, view, "a MetricWindow");
    return {
      metrics: viewMetrics("window"),
      async collect() {
        const all = windows instanceof Map ? [...windows] : Object.entries(windows);
        const views = all.map(([name, view]) => ({
          name,
          view,
          percentilesMs:
            options.percentiles || view.hasPercentiles ? percentiles.map((each) => view.latencyPercentileMs(each)) : [],
        }));
        return viewSamples(views, percentiles);
      },
    };
  });
}

const PER_SECOND = {
  success: "successesPerSecond",
  failure: "failuresPerSecond",
  allowed: "allowedPerSecond",
  denied: "deniedPerSecond",
} as const;
export const OUTCOMES = Object.keys(PER_SECOND) as (keyof typeof PER_SECOND)[];

/** One name's numbers, and the percentiles of its response times in ms. */
export interface NamedView {
  name: string;
  view: MetricView;
  percentilesMs: readonly number[];
}

/** The gauges of sliding windows of this process ("window") or of all processes ("fleet"). */
export function viewMetrics(scope: "window" | "fleet"): MetricInfo[] {
  const isShared = scope === "fleet";
  const where = isShared ? "of all processes" : "of this process";
  const gauge = (prometheus: string, otel: string, unit: string, what: string): MetricInfo => ({
    prometheus: `${scope}_${prometheus}`,
    otel: `${scope}.${otel}`,
    type: "gauge",
    unit,
    help: `${what} over the sliding window, ${where}.`,
    isShared,
  });
  return [
    gauge("calls_per_second", "calls.rate", "{call}/s", "Calls per second, by outcome,"),
    gauge("response_time_mean_seconds", "response_time.mean", "s", "Mean response time"),
    gauge("response_time_min_seconds", "response_time.min", "s", "Smallest response time"),
    gauge("response_time_max_seconds", "response_time.max", "s", "Largest response time"),
    gauge(
      "response_time_percentile_seconds",
      "response_time.percentile",
      "s",
      "Exact percentiles of the response times",
    ),
  ];
}

/** The samples of these gauges, in their order. */
export function viewSamples(views: readonly NamedView[], percentiles: readonly number[]): Sample[][] {
  const of = (samples: (named: NamedView, label: string) => Sample[]) =>
    views.flatMap((each) => samples(each, nameLabel(each.name)));
  return [
    of(({ view }, name) =>
      OUTCOMES.map((outcome) => ({ value: view[PER_SECOND[outcome]](), labels: { name, outcome } })),
    ),
    of(({ view }, name) => seconds(view.success() > 0 ? view.meanLatencyMs() : Number.NaN, { name })),
    of(({ view }, name) => seconds(Number.isFinite(view.maxLatencyMs()) ? view.minLatencyMs() : Number.NaN, { name })),
    of(({ view }, name) => seconds(view.maxLatencyMs(), { name })),
    of(({ view, percentilesMs }, name) => {
      const span = spanLabel(view.intervalMs);
      return percentilesMs.flatMap((ms, i) => seconds(ms, { name, percentile: `${percentiles[i]}`, span }));
    }),
  ];
}
