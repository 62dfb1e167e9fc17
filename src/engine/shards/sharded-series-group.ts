import type { Store } from "../../store/contract.ts";
import { GroupCalls, type GroupEvents } from "../groups/group-calls.ts";
import type { GroupSettings } from "../groups/group-options.ts";
import { GroupedJournal } from "../groups/grouped-journal.ts";
import type { OwnGroups } from "../groups/labels.ts";
import { type RowsQuery, rowsOf } from "../groups/rows.ts";
import { ServerTime } from "../journal/replica/last-seen.ts";
import { CommitLoop } from "../series/session/commit-loop.ts";
import { Shard } from "./shard.ts";
import { type ShardedSeriesGroupOptions, shardedGroupSettings } from "./shard-options.ts";
import { degrade, registerSharded, type Servers, Shards, serversOf } from "./shards.ts";

/**
 * A `SeriesGroup` whose events are too many for one server: they lie in shards, as those of a `ShardedSeries` do. Each shard numbers its
 * groups by itself, and keeps `maxGroups` of them. A group that one shard does not keep counts as `_other` in all, so each row is exact.
 * If shards cannot be reached, an answer is `degraded` by "shards" and says their share.
 */
export class ShardedSeriesGroup<const Names extends readonly string[] = readonly string[]> extends GroupCalls<Names> {
  /** Number of shards in which this process records. */
  readonly shards: number;

  /** `store`: the store of a cluster, or a list of stores, one for each server. All processes have the same list. */
  constructor(store: Store | readonly Store[], name: string, options: ShardedSeriesGroupOptions<Names>) {
    const servers = serversOf("ShardedSeriesGroup", store, name);
    const { site, stores } = servers;
    const count = servers.isList ? stores.length : undefined;
    const { shards, group } = site.checked(undefined, () => shardedGroupSettings(options, count));
    super(site, stores[0]!, name, group, (own, onFull) => inShards(servers, name, shards, group, own, onFull));
    this.shards = shards;
    registerSharded("SeriesGroup", servers, name, this, shards, group.announced);
  }
}

function inShards(
  servers: Servers,
  name: string,
  number: number,
  group: GroupSettings,
  own: OwnGroups,
  onFull: (maxGroups: number) => void,
): GroupEvents {
  const { series, labels } = group;
  const journals = new Map<Shard, GroupedJournal>();
  const shards = new Shards(servers, name, number, series, labels, (store, key, beforeAppend) => {
    const journal = new GroupedJournal(store, key, group, own, onFull, () => shard.loop);
    const time = new ServerTime(store.monotonic);
    const loopOf = (ended: (error: unknown) => void) =>
      new CommitLoop(store, key, { ...series, appending: journal.send, beforeAppend, ended }, time, servers.site);
    const shard: Shard = new Shard(loopOf, store.monotonic, () => journal.names.refresh());
    journals.set(shard, journal);
    return shard;
  });
  const windows = (query: RowsQuery) => shards.ask((shard) => journals.get(shard)!.window(query));
  return {
    get loop() {
      return shards.chosen().loop;
    },
    checkAskable: () => shards.checkAskable(),
    keeps: (values) => shards.own.some((shard) => journals.get(shard)!.names.keeps(values)),
    async rows(asked) {
      let query = asked;
      let { parts, missingShare } = await windows(query);
      if (series.clock === 1 && query.atMs === undefined) {
        const atMs = Math.max(...parts.map(({ latestMs }) => latestMs));
        if (atMs > Number.NEGATIVE_INFINITY) {
          query = { ...query, atMs };
          ({ parts, missingShare } = await windows(query));
        }
      }
      return degrade(rowsOf(parts, query, group), missingShare);
    },
    delete: () => shards.delete(),
    close: () => shards.close(),
  };
}
