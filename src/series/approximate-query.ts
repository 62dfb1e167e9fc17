import { argumentError, checkKnown } from "../errors.ts";
import { type StatsQuery, statsQuery } from "../stats/window-query.ts";
import type { SeriesStatsOptions } from "./server-query.ts";

export interface SummarizeOptions {
  /**
   * Of windows over all that is summed up, by which share ranks may be wrong, from 0.002 to 0.25; default 0.02: some
   * 28 kB (float64: 48 kB). Half of it takes three times the bytes; few events take no more than they do themselves.
   */
  rankError?: number;
}

export interface ApproximateQuery extends StatsQuery {
  rankError: number;
}

/** A question that may be answered from a summary. */
export function approximateQuery(options: SeriesStatsOptions, retentionMs: number): ApproximateQuery {
  const { where, approximate, ...rest } = options;
  if (where === "server")
    throw argumentError("approximate", approximate, 'left out with where: "server", which is exact');
  if (where !== undefined && where !== "client") throw argumentError("where", where, '"client" or "server"');
  if (rest.maxAge !== undefined)
    throw argumentError("maxAge", rest.maxAge, "left out with approximate: what is held is exact");
  if (approximate === null || typeof approximate !== "object")
    throw argumentError("approximate", approximate, "an object { rankError }");
  checkKnown(approximate, ["rankError"], "approximate");
  return { ...statsQuery(rest, retentionMs), rankError: share(approximate.rankError, 0, 0.5) };
}

/** The rank error of a summary that is to be published. */
export function summaryError(options: SummarizeOptions): number {
  checkKnown(options, ["rankError"]);
  const { rankError = 0.02 } = options;
  return share(rankError, 0.002, 0.25);
}

function share(rankError: number, least: number, most: number): number {
  if (typeof rankError !== "number" || !(rankError >= least && rankError <= most))
    throw argumentError("rankError", rankError, `a number from ${least} to ${most}`);
  return rankError;
}
