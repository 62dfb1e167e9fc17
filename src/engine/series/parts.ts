import type { NanPolicy } from "../kernel/nan.ts";
import { type CompareQuery, type Comparison, comparisonOf } from "../stats/comparison.ts";
import type { Asked } from "../stats/distribution.ts";
import type { Run } from "../stats/runs/run.ts";
import {
  type Bucket,
  bucketNumber,
  bucketsOf,
  type Timeline,
  type TimelineQuery,
  timelineOf,
} from "../stats/timeline.ts";
import { windowUntil } from "../stats/window-folds.ts";
import type { StatsQuery, WindowQuery } from "../stats/window-query.ts";
import { type Degraded, Fold, statsOf, type WindowStats } from "../stats/window-stats.ts";
import type { OutlinedPart } from "./outlines/outline-stats.ts";
import { OutlineWindow } from "./outlines/outline-window.ts";
import type { WindowView } from "./pending-query.ts";

/** The window of one of several series: its runs, which do not change while the other parts are awaited. */
export interface WindowPart {
  runs: readonly Run[];
  fromMs: number;
  toMs: number;
  degradedBy: Degraded | undefined;
}

export function partOf(
  view: WindowView,
  fromMs: number,
  toMs: number,
  { closed }: Pick<WindowQuery, "closed">,
): WindowPart {
  const runs: Run[] = [];
  view.collect({ add: (run) => void runs.push(run) }, fromMs, toMs, closed);
  return { runs, fromMs, toMs, degradedBy: view.degradedBy(fromMs) };
}

/** The statistics of all parts together, in their order. The edges are those of the window that ends last. */
export function mergedStats(parts: readonly WindowPart[], query: StatsQuery, nan: NanPolicy): WindowStats {
  const { fromMs, toMs } = lastOf(parts);
  return statsOf(foldOfParts(parts), query, nan, fromMs, toMs, degradedByOf(parts));
}

/** The same of parts of which some have outlines in place of events. Undefined if the events are needed. */
export async function mergedOutlines(
  parts: readonly (WindowPart | OutlinedPart)[],
  query: StatsQuery,
  nan: NanPolicy,
): Promise<WindowStats | undefined> {
  const outlined = parts.filter((part) => "outlines" in part);
  if (outlined.length === 0) return mergedStats(parts as readonly WindowPart[], query, nan);
  const window = new OutlineWindow(query.percentiles);
  for (const part of parts)
    if ("outlines" in part) window.add(part);
    else for (const run of part.runs) window.addRun(run);
  const fold = await window.fold();
  for (const part of outlined) part.done();
  if (!fold || fold === "changed") return undefined;
  const { fromMs, toMs } = lastOf(parts);
  return statsOf(fold, query, nan, fromMs, toMs, degradedByOf(parts));
}

/** What `histogram` and `ranks` need of all parts together. */
export function mergedWindow(parts: readonly WindowPart[], query: WindowQuery, nan: NanPolicy): Asked {
  const window = windowUntil(lastOf(parts).toMs, query);
  return { fold: foldOfParts(parts), window, nan, degradedBy: degradedByOf(parts) };
}

/** The buckets of one of several series, by their numbers. */
export interface TimelinePart {
  parts: ReadonlyMap<number, WindowPart>;
  buckets: readonly Bucket[];
  toMs: number;
  degradedBy: Degraded | undefined;
}

export function bucketsPart(view: WindowView, _: number, toMs: number, query: TimelineQuery): TimelinePart {
  const buckets = bucketsOf(query, toMs);
  const parts = buckets.map(
    (bucket) => [bucketNumber(query, toMs, bucket.toMs), partOf(view, bucket.fromMs, bucket.toMs, query)] as const,
  );
  return { parts: new Map(parts), buckets, toMs, degradedBy: view.degradedBy(buckets[0]!.fromMs) };
}

/** The buckets of the part that ends last, each with the events of all parts. */
export function mergedTimeline(parts: readonly TimelinePart[], query: TimelineQuery, nan: NanPolicy): Timeline {
  const last = lastOf(parts);
  const merged = (bucket: Bucket) => {
    const number = bucketNumber(query, last.toMs, bucket.toMs);
    return foldOfParts(parts.flatMap((part) => part.parts.get(number) ?? []));
  };
  return timelineOf(query, last.toMs, nan, last.buckets, merged, degradedByOf(parts));
}

/** The two windows of one of several series. */
export interface ComparedPart {
  current: WindowPart;
  earlier: WindowPart;
  toMs: number;
}

export function comparedPart(view: WindowView, _: number, toMs: number, query: CompareQuery): ComparedPart {
  const { lengthMs, beforeMs } = query;
  const until = (endMs: number) => partOf(view, endMs - lengthMs, endMs, query);
  return { current: until(toMs), earlier: until(toMs - beforeMs), toMs };
}

/** The comparison of all parts together, with the edges of the part that ends last. */
export function mergedComparison(parts: readonly ComparedPart[], query: CompareQuery, nan: NanPolicy): Comparison {
  const { toMs, current } = lastOf(parts);
  const windowsFrom = (fromMs: number) =>
    parts.map((part) => (fromMs === current.fromMs ? part.current : part.earlier));
  return comparisonOf(
    query,
    toMs,
    nan,
    ({ fromMs }) => foldOfParts(windowsFrom(fromMs)),
    (fromMs) => degradedByOf(windowsFrom(fromMs)),
  );
}

function foldOfParts(parts: readonly WindowPart[]): Fold {
  const fold = new Fold();
  for (const { runs } of parts) for (const run of runs) fold.add(run);
  return fold;
}

function lastOf<Part extends { toMs: number }>(parts: readonly Part[]): Part {
  return parts.reduce((last, part) => (part.toMs > last.toMs ? part : last));
}

function degradedByOf(parts: readonly { degradedBy: Degraded | undefined }[]): Degraded | undefined {
  return parts.find(({ degradedBy }) => degradedBy)?.degradedBy;
}
