import type { NanPolicy } from "../kernel/nan.ts";
import type { Run } from "../stats/runs/run.ts";
import type { StatsQuery } from "../stats/window-query.ts";
import { type Degraded, Fold, statsOf, type WindowStats } from "../stats/window-stats.ts";
import type { WindowView } from "./pending-query.ts";

/** The window of one of several series: its runs, which do not change while the other parts are awaited. */
export interface WindowPart {
  runs: readonly Run[];
  fromMs: number;
  toMs: number;
  degradedBy: Degraded | undefined;
}

export function partOf(view: WindowView, fromMs: number, toMs: number, { closed }: StatsQuery): WindowPart {
  const runs: Run[] = [];
  view.collect({ add: (run) => void runs.push(run) }, fromMs, toMs, closed);
  return { runs, fromMs, toMs, degradedBy: view.degradedBy(fromMs) };
}

/** The statistics of all parts together, in their order. The edges are those of the window that ends last. */
export function mergedStats(parts: readonly WindowPart[], query: StatsQuery, nan: NanPolicy): WindowStats {
  const fold = new Fold();
  let last = parts[0]!;
  for (const part of parts) {
    for (const run of part.runs) fold.add(run);
    if (part.toMs > last.toMs) last = part;
  }
  const degradedBy = parts.find((part) => part.degradedBy)?.degradedBy;
  return statsOf(fold, query, nan, last.fromMs, last.toMs, degradedBy);
}
