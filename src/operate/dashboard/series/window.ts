import { argumentError } from "../../../base/errors.ts";
import type { Series } from "../../../engine/series/series.ts";

/** The window that a page asks for. */
export interface AskedWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** The share below this limit is asked for. */
  readonly below: number | undefined;
  readonly buckets: number;
}

const MAX_BUCKETS = 400;
const BUCKETS = 120;

/**
 * Reads `span`, `from` and `to`, `below` and `buckets`, in ms since 1970. Without `to` the window ends at the present of
 * the series. A window longer than the retention is cut to it. Throws ARGUMENT.
 */
export async function windowOf(series: Series, retentionMs: number, query: URLSearchParams): Promise<AskedWindow> {
  const from = numberOf(query, "from");
  const to = numberOf(query, "to");
  const span = numberOf(query, "span") ?? Math.min(retentionMs, 300_000);
  const below = numberOf(query, "below");
  const buckets = numberOf(query, "buckets") ?? BUCKETS;
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS)
    throw argumentError("buckets", buckets, `a whole number from 1 to ${MAX_BUCKETS}`);
  const toMs = Math.floor(to ?? (await series.stats({ span: 1, percentiles: [] })).to);
  const fromMs = Math.max(Math.floor(from ?? toMs - span), toMs - retentionMs);
  if (!(fromMs < toMs)) throw argumentError("from", from ?? fromMs, `ms since 1970 before to, ${toMs}`);
  return { fromMs, toMs, below, buckets };
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) throw argumentError(name, text, "a number");
  return value;
}
