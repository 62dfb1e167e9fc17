import type { SeriesGroupOptions } from "../../engine/groups/group-options.ts";
import { SeriesGroup } from "../../engine/groups/series-group.ts";
import { ShardedSeriesGroup } from "../../engine/shards/sharded-series-group.ts";
import { type AnyGroup, groupsCsv, groupsOf, groupView, numbersOf } from "../dashboard/series/groups.ts";
import { viewCsv, windowOf } from "../dashboard/series/view.ts";
import { whole } from "../format.ts";
import type { Kind } from "./kind.ts";
import type { Identified, Open, Scope } from "./scope.ts";
import { bounded, MAX_AGE, MAX_BYTES, retentionMsOf, shardsOf } from "./series.ts";

/** Of a copy. */
const EVENT_BYTES = 26;

/** A group, or one with shards. */
const openGroup: Open<AnyGroup> = (store, structure) => {
  const { labels, maxGroups, clock } = structure.settings;
  const options: SeriesGroupOptions = {
    labels: typeof labels === "string" ? labels.split(" ") : [],
    ...(typeof maxGroups === "number" && { maxGroups }),
    retention: retentionMsOf(structure),
    clock: clock === "event" ? "event" : "server",
    nan: "ignore",
    maxResidentBytes: MAX_BYTES,
  };
  const shards = shardsOf(structure);
  if (shards === undefined) return new SeriesGroup(store, structure.name, options);
  return new ShardedSeriesGroup(store, structure.name, { ...options, shards });
};

/** SeriesGroup: the numbers of all groups together, of each row of groups, and of one over time. */
export const seriesGroupKind: Kind = {
  open: openGroup,
  columns: ["spark", "rate", "p50", "p90", "p99", "max"],
  async numbers(scope, structure, { spanMs, parts: count }) {
    const group = groupOf(scope, structure);
    const span = Math.min(spanMs, retentionMsOf(structure));
    // One request. The copy that it brings answers for the parts.
    const all = await group.stats({ by: [], span });
    const partMs = Math.ceil(span / count);
    const parts = await Promise.all(
      Array.from({ length: count }, (_, i) => {
        const at = all.to - (count - 1 - i) * partMs;
        return group.stats({ by: [], span: partMs, at, percentiles: [], maxAge: MAX_AGE });
      }),
    );
    const { rate, p50, p90, p99, max } = numbersOf(all);
    const spark = parts.map(({ rows }) => rows[0]?.count ?? 0);
    const others = all.others > 0 ? `${whole(all.others)} events count as _other` : "";
    return { rate, p50, p90, p99, max, spark, state: all.degraded ? `incomplete: ${all.degradedBy}` : others };
  },
  parts: {
    async rows(scope, structure, query) {
      const group = groupOf(scope, structure);
      const asked = () => windowOf(group, retentionMsOf(structure), query);
      const body = await bounded(EVENT_BYTES, async () => groupsOf(group, await asked(), query));
      return { body, csv: () => groupsCsv(body) };
    },
    async view(scope, structure, query) {
      const group = groupOf(scope, structure);
      const asked = () => windowOf(group, retentionMsOf(structure), query);
      const body = await bounded(EVENT_BYTES, async () => groupView(group, await asked(), query));
      return { body, csv: () => viewCsv(body) };
    },
  },
  actions: {},
};

export function groupOf(scope: Scope, structure: Identified): AnyGroup {
  return scope.opened(structure, openGroup, (group) => group.close());
}
