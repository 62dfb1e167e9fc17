import { argumentError, wholeNumber } from "../../base/errors.ts";
import { type Schema, settingsOf } from "../../base/options.ts";
import { MAX_SHARDS } from "../../generated/layouts/shards.ts";
import { GROUP, groupSettings, type SeriesGroupOptions } from "../groups/group-options.ts";
import { SERIES, type SeriesOptions, seriesSettings } from "../series/series-options.ts";

/** Options of `ShardedSeries`: those of `Series`, and `shards`. */
export interface ShardedSeriesOptions extends SeriesOptions {
  /**
   * Number of shards, 1 to 256: as many as the cluster has primaries, or a multiple. A list of servers has one on each, and leaves it
   * out. All processes name the same number. One may begin with more at any time, and with fewer once no process has recorded in more
   * for a minute. Nothing is moved: events are read where they are.
   */
  shards?: number | undefined;
}

/** Options of `ShardedSeriesGroup`: those of `SeriesGroup`, and `shards` as for `ShardedSeries`. */
export interface ShardedSeriesGroupOptions<Names extends readonly string[] = readonly string[]>
  extends SeriesGroupOptions<Names> {
  /** As of `ShardedSeries`. */
  shards?: number | undefined;
}

/** `servers`: their number in a list; undefined without a list. */
export function shardSettings(options: ShardedSeriesOptions, servers: number | undefined) {
  const schema = { ...SERIES, shards: [numberOf(servers)] } as const;
  const { shards } = settingsOf(schema satisfies Schema<ShardedSeriesOptions>, options);
  const { shards: _shards, ...ofSeries } = options;
  return { shards, series: seriesSettings(ofSeries) };
}

/** The same for a group. */
export function shardedGroupSettings(options: ShardedSeriesGroupOptions, servers: number | undefined) {
  const schema = { ...GROUP, shards: [numberOf(servers)] } as const;
  const { shards } = settingsOf(schema satisfies Schema<ShardedSeriesGroupOptions>, options);
  const { shards: _shards, ...ofGroup } = options;
  return { shards, group: groupSettings(ofGroup) };
}

/** Checks the number of shards. */
function numberOf(servers: number | undefined) {
  return (argument: string, shards: number | undefined): number => {
    if (servers === undefined) return wholeNumber(argument, shards, 1, MAX_SHARDS);
    if (shards !== undefined && shards !== servers)
      throw argumentError(argument, shards, `left out, or ${servers}: each server of the list has one`);
    return wholeNumber("the number of servers", servers, 1, MAX_SHARDS);
  };
}
