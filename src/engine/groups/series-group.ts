import { Beside } from "../../base/async/beside.ts";
import { untilEnded } from "../../base/async/within.ts";
import { type Site, siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { register } from "../../store/registry/register.ts";
import { ServerTime } from "../journal/replica/last-seen.ts";
import { CommitLoop } from "../series/session/commit-loop.ts";
import { GroupCalls, type GroupEvents } from "./group-calls.ts";
import { type GroupSettings, groupSettings, type SeriesGroupOptions } from "./group-options.ts";
import { GroupedJournal } from "./grouped-journal.ts";
import type { OwnGroups } from "./labels.ts";
import { rowsOf } from "./rows.ts";

/**
 * Events with labels, of many processes under one name, and exact statistics of any union of their groups over any window: the p99 of
 * each route, for instance. A group is all events with the same labels. Its events are those of a `Series` of float32 values, and a
 * number for each. What `Series` promises of its events holds here too.
 */
export class SeriesGroup<const Names extends readonly string[] = readonly string[]> extends GroupCalls<Names> {
  constructor(store: Store, name: string, options: SeriesGroupOptions<Names>) {
    const site = siteOf("SeriesGroup", store, name);
    const settings = site.checked(undefined, () => groupSettings(options));
    super(site, store, name, settings, (own, onFull) => inOneJournal(store, name, site, settings, own, onFull));
    register(store, "SeriesGroup", name, this, ...settings.announced);
  }
}

function inOneJournal(
  store: Store,
  name: string,
  site: Site,
  settings: GroupSettings,
  own: OwnGroups,
  onFull: (maxGroups: number) => void,
): GroupEvents {
  const key = store.keyOf(name);
  const time = new ServerTime(store.monotonic);
  const journal = new GroupedJournal(store, key, settings, own, onFull, () => loops.free);
  const series = { ...settings.series, appending: journal.send };
  const loops: Beside<CommitLoop> = new Beside(() => new CommitLoop(store, key, series, time, site));
  return {
    get loop() {
      return loops.free;
    },
    checkAskable: () => loops.free.checkAskable(),
    keeps: (values) => journal.names.keeps(values),
    rows: async (query) => rowsOf([await journal.window(query)], query, settings),
    async delete() {
      const loop = loops.free;
      loop.checkOpen();
      await loop.delete();
    },
    async close() {
      await Promise.all(loops.close().map((loop) => untilEnded(loop.close())));
    },
  };
}
