import { argumentError, checkKnown, show } from "../../../base/errors.ts";
import { atSite } from "../../../base/site.ts";
import type { MetricView } from "../../../metrics/window/metric-view.ts";
import type { MetricsSource } from "../metric.ts";
import { checkPercentiles } from "../options.ts";
import { viewMetrics, viewSamples } from "./views.ts";

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

const DEFAULT_PERCENTILES = [50, 90, 99];

/** Gauges of `MetricWindow`s. Each process reports its own, so sums over processes are correct. Throws ARGUMENT. */
export function windowSource(windows: NamedWindows, options: WindowSourceOptions = {}): MetricsSource {
  return atSite("windowSource", () => {
    checkKnown(options, ["percentiles"]);
    const given = options.percentiles;
    const percentiles = checkPercentiles(given ?? DEFAULT_PERCENTILES);
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
          percentilesMs: given || view.hasPercentiles ? percentiles.map((each) => view.latencyPercentileMs(each)) : [],
        }));
        return viewSamples(views, percentiles);
      },
    };
  });
}
