import { argumentError } from "../../../base/errors.ts";
import { endsOf } from "../series/view.ts";

/** Reports of processes come this far apart, so shorter buckets would say nothing. */
const LEAST_BUCKET_MS = 10_000;
const MAX_BUCKETS = 120;
const DEFAULT_SPAN_MS = 900_000;
/** A history that is kept for longer than this is not shown to its beginning: 7 days. */
export const MAX_SPAN_MS = 604_800_000;

export interface HistoryWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** Ends of the buckets. If `fromMs` lies inside a bucket, the first one is shorter than the others. */
  readonly endsMs: readonly number[];
}

/** Reads `span`, or `from` and `to`, in ms. Without `to` the window ends at `nowMs`. Throws ARGUMENT. */
export function historyWindow(nowMs: number, query: URLSearchParams): HistoryWindow {
  const numberOf = (name: string) => {
    const text = query.get(name);
    if (text === null || text === "") return undefined;
    const value = Number(text);
    if (!Number.isSafeInteger(Math.floor(value)) || value < 0)
      throw argumentError(name, text, "a number of ms, 0 or more");
    return Math.floor(value);
  };
  const toMs = numberOf("to") ?? Math.floor(nowMs);
  const fromMs = Math.max(numberOf("from") ?? toMs - (numberOf("span") ?? DEFAULT_SPAN_MS), toMs - MAX_SPAN_MS);
  if (!(fromMs < toMs)) throw argumentError("from", fromMs, `ms since 1970 before to, ${toMs}`);
  const buckets = Math.min(MAX_BUCKETS, Math.max(1, Math.floor((toMs - fromMs) / LEAST_BUCKET_MS)));
  return { fromMs, toMs, endsMs: endsOf(fromMs, toMs, buckets) };
}
