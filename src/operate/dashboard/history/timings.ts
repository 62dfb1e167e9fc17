import { argumentError } from "../../../base/errors.ts";
import { Series } from "../../../engine/series/series.ts";
import { TIMINGS, type Timing, timingSeries } from "../../history/names.ts";
import type { SeriesView } from "../protocol.ts";
import type { Listed, Scope } from "../scope.ts";
import { viewOf } from "../series/view.ts";
import { windowOf } from "../series/window.ts";
import { MAX_SPAN_MS } from "./window.ts";

/** One timing of a queue's messages over a window, in ms: exact percentiles, rate and heat map. Throws ARGUMENT. */
export async function timingOf(scope: Scope, structure: Listed, query: URLSearchParams): Promise<SeriesView> {
  const timing = query.get("timing") ?? "lateness";
  if (!TIMINGS.includes(timing as Timing)) throw argumentError("timing", timing, `one of ${TIMINGS.join(", ")}`);
  const name = timingSeries(structure.name, timing as Timing);
  const series = scope.opened(
    { ...structure, id: `${structure.id} ${timing}` },
    () => new Series(scope.store, name, { retention: MAX_SPAN_MS, nan: "ignore" }),
    (each) => each.close(),
  );
  return viewOf(series, await windowOf(series, MAX_SPAN_MS, query));
}
