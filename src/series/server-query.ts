import { argumentError } from "../errors.ts";
import { type StatsOptions, type StatsQuery, statsQuery } from "../stats/window-query.ts";
import type { ApproximateOptions } from "../stats/window-stats.ts";

export interface SeriesStatsOptions<P extends readonly number[] = readonly number[]> extends StatsOptions<P> {
  /**
   * "client" (default): from a copy of the events in this process, which is brought up to date. "server": inside the
   * store, from which some hundred bytes leave; at most 10 000 events inside, 512 KiB of chunks read (they go back 80 s
   * before the window) and 64 percentiles, beyond which it is TOO_LARGE: Redis serves nobody else meanwhile.
   */
  where?: "client" | "server";
  /**
   * Answers from a published summary (`Series.summarize`) and what came after it, where the process holds nothing and the
   * error stays within this; else exactly. The answer's `approximate` states its error.
   */
  approximate?: ApproximateOptions;
}

const MOST_PERCENTILES = 64;

/** A question that is answered inside the store: what it answers is never old, and it has bounds. */
export function serverQuery(options: StatsOptions, retentionMs: number): StatsQuery {
  if (options.maxAge !== undefined)
    throw argumentError("maxAge", options.maxAge, 'left out with where: "server", which holds no copy');
  const query = statsQuery(options, retentionMs);
  if (query.percentiles.length > MOST_PERCENTILES)
    throw argumentError("percentiles", query.percentiles, `at most ${MOST_PERCENTILES} with where: "server"`);
  return query;
}
