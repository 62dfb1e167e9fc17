import { wholeNumber } from "../../base/errors.ts";
import { oneOf, type Schema, type SettingsOf, settingsOf } from "../../base/options.ts";
import { atSite, checkStore } from "../../base/site.ts";
import type { Store, WatchedStore } from "../../store/contract.ts";
import { onStructure, structuresOf } from "../../store/registry/live.ts";
import { together } from "./collect.ts";
import { Election } from "./election.ts";
import { allKinds, type Kind } from "./kinds.ts";
import { counter, type MetricInfo, type MetricsSource, type Sample, Totals } from "./metric.ts";
import { SERIES_SOURCE, type SeriesSourceOptions } from "./sources/series-settings.ts";

/** Options of `registerAll`. */
export interface RegisterAllOptions {
  /**
   * Which processes report the numbers of all processes together (`fleet_...`). "elected" (default): one for each structure,
   * so that sums are right. "every": each process; aggregate with `max by (name)`. "none": no process, and no request is sent.
   */
  fleet?: "elected" | "every" | "none" | undefined;
  /**
   * Names of each kind of structure with labels of their own, and groups of each `SeriesGroup`; default 100. The counts of all others
   * share `_other`.
   */
  maxNames?: number | undefined;
  /** The window, the percentiles and the histogram's boundaries of series, with labels or without. */
  series?: SeriesSourceOptions | undefined;
}

const MAX_NAMES = 10_000;
const registered = new WeakMap<Store, MetricsSource>();

/**
 * One source of metrics of every structure on this store in this process: limiters, queues and their workers, breakers,
 * series and series with labels, drains, fleet metrics, and the store's health. Structures made later are included. Call it once at the start,
 * because it counts from then on. A further call for the store returns the same source, with the options of the first call. It
 * keeps no structure alive. Throws ARGUMENT.
 *
 * @example
 * const metrics = registerAll(store);
 * app.get("/metrics", async (_, answer) => answer.type("text/plain").send(await prometheusText(metrics)));
 */
export function registerAll(store: Store, options: RegisterAllOptions = {}): MetricsSource {
  return atSite("registerAll", () => {
    checkStore(store);
    const settings = settingsOf(REGISTER_ALL, options);
    const source = registered.get(store) ?? sourceOf(store, settings);
    registered.set(store, source);
    return source;
  });
}

const REGISTER_ALL = {
  fleet: [oneOf, "elected", "elected", "every", "none"],
  maxNames: [wholeNumber, 100, 1, MAX_NAMES],
  series: [(argument: string, series: SeriesSourceOptions = {}) => settingsOf(SERIES_SOURCE, series, argument)],
} as const satisfies Schema<RegisterAllOptions>;

function sourceOf(store: Store, { fleet, maxNames, series }: SettingsOf<typeof REGISTER_ALL>): MetricsSource {
  const kinds = allKinds(maxNames, series);
  const election = fleet === "elected" ? new Election(store) : undefined;
  const attach = (structure: object) => {
    for (const kind of kinds) if (kind.is(structure)) kind.attach?.(structure);
  };
  for (const structure of structuresOf(store)) attach(structure);
  onStructure(store, attach);
  const health = storeSource(store);
  const metrics = kinds.flatMap((kind) => kind.metrics).filter(({ isShared }) => fleet !== "none" || !isShared);
  return together([...metrics, ...STORE_METRICS], () => {
    const live = structuresOf(store);
    return [health, ...kinds.flatMap((kind) => partsOf(kind, live, fleet === "none" ? undefined : { election }))];
  });
}

/** The sources of one kind: its counts, and each live structure's numbers. Those with one name are read once. */
function partsOf(
  kind: Kind,
  live: Iterable<object>,
  shared: { election: Election | undefined } | undefined,
): MetricsSource[] {
  const byName = new Map<string, object>();
  for (const structure of live) {
    if (!kind.is(structure)) continue;
    const name = kind.nameOf(structure);
    if (kind.names.has(name)) byName.set(name, structure);
  }
  const parts = [...byName].flatMap(([name, structure]) => {
    const own = kind.own?.(structure);
    const fleet = shared && kind.fleet?.(structure);
    const elected = fleet && shared.election ? ifElected(fleet, shared.election, `${kind.kind}:${name}`) : fleet;
    return [own, elected].filter((each) => each !== undefined);
  });
  return kind.counts ? [kind.counts, ...parts] : parts;
}

/** A source that has no samples in processes that are not elected. */
function ifElected(source: MetricsSource, election: Election, structure: string): MetricsSource {
  return {
    metrics: source.metrics,
    async collect() {
      if (await election.isElected(structure)) return source.collect();
      return source.metrics.map(() => []);
    },
  };
}

const STORE_METRICS: readonly MetricInfo[] = [
  {
    prometheus: "store_up",
    otel: "store.up",
    type: "gauge",
    unit: "1",
    help: "1 while this process can use the store, else 0. A sum is the number of processes that can.",
    isShared: false,
  },
  counter("store_outages", "store.outages", "{outage}", "Times that the store went down for this process."),
];

/** The health of a store as this process sees it, from now on. */
function storeSource(store: Store): MetricsSource {
  const outages = new Totals();
  const labels = { server: store.address ?? "memory" };
  const watched = "health" in store ? (store as WatchedStore) : undefined;
  outages.add(labels, 0);
  watched?.on("down", () => outages.add(labels));
  return {
    metrics: STORE_METRICS,
    async collect() {
      const up: Sample[] = watched ? [{ value: watched.health.state === "up" ? 1 : 0, labels }] : [];
      return [up, outages.samples()];
    },
  };
}
