import { type MetricInfo, type MetricsSource, Names } from "./metric.ts";
import {
  BREAKER_METRICS,
  BreakerCounts,
  type BreakerLike,
  breakerState,
  breakerWindow,
  isBreaker,
} from "./sources/breaker-source.ts";
import { DRAIN_METRICS, drainSource, isDrain, type NamedDrainLike } from "./sources/drain-source.ts";
import { FLEET_METRICS, type FleetLike, fleetCounts, fleetWindow, isFleet } from "./sources/fleet-source.ts";
import { GROUP_METRICS, GroupCounts, type GroupLike, groupWindow, isGroup } from "./sources/group-source.ts";
import { isLimiter, LIMITER_METRICS, LimiterCounts, type LimiterLike } from "./sources/limiter-source.ts";
import {
  isNamedWorker,
  isQueue,
  type NamedWorkerLike,
  QUEUE_METRICS,
  type QueueLike,
  queueMessages,
  WorkerCounts,
} from "./sources/queue-source.ts";
import type { SeriesSettings } from "./sources/series-settings.ts";
import { isSeries, SERIES_METRICS, SeriesCounts, type SeriesLike, seriesWindow } from "./sources/series-source.ts";

/** How the structures of one kind are recognised, counted and read. */
interface KindOf<Structure extends object> {
  readonly kind: string;
  readonly metrics: readonly MetricInfo[];
  /** The names with labels of their own. */
  readonly names: Names;
  is(structure: object): boolean;
  nameOf(structure: Structure): string;
  /** Begins to count. Called once for each structure. */
  attach?(structure: Structure): void;
  /** The counts of all structures so far, also of those that are gone. */
  readonly counts?: MetricsSource;
  /** The numbers of this process that a live structure has. */
  own?(structure: Structure): MetricsSource | undefined;
  /** The numbers of all processes together. */
  fleet?(structure: Structure): MetricsSource;
}
export type Kind = KindOf<object>;

export function allKinds(maxNames: number, series: SeriesSettings): Kind[] {
  return [
    limiters(new Names(maxNames)),
    seriesKind(new Names(maxNames), series),
    groups(new Names(maxNames), series, maxNames),
    ...queues(new Names(maxNames)),
    breakers(new Names(maxNames)),
    drains(new Names(maxNames)),
    fleets(new Names(maxNames)),
  ];
}

const nameOf = ({ name }: { readonly name: string }) => name;

function limiters(names: Names): KindOf<LimiterLike> {
  const counts = new LimiterCounts(names);
  const attach = (limiter: LimiterLike) => counts.attach(limiter);
  return { kind: "limiter", metrics: LIMITER_METRICS, names, is: isLimiter, nameOf, attach, counts: counts.source };
}

function seriesKind(names: Names, settings: SeriesSettings): KindOf<SeriesLike> {
  const counts = new SeriesCounts(names, settings.buckets);
  return {
    kind: "series",
    metrics: SERIES_METRICS,
    names,
    is: isSeries,
    nameOf,
    attach: (series) => counts.attach(series),
    counts: counts.source,
    fleet: (series) => seriesWindow(series, names, settings),
  };
}

/** `maxRows`: the groups of each `SeriesGroup` with labels of their own. */
function groups(names: Names, settings: SeriesSettings, maxRows: number): KindOf<GroupLike> {
  const counts = new GroupCounts(names, settings.buckets, maxRows);
  return {
    kind: "series-group",
    metrics: GROUP_METRICS,
    names,
    is: isGroup,
    nameOf,
    attach: (group) => counts.attach(group),
    counts: counts.source,
    fleet: (group) => groupWindow(group, names, settings, maxRows),
  };
}

/** Queues and their workers share the names. A worker can exist without its queue. */
function queues(names: Names): [KindOf<QueueLike>, KindOf<NamedWorkerLike>] {
  const counts = new WorkerCounts(names);
  return [
    {
      kind: "queue",
      metrics: QUEUE_METRICS,
      names,
      is: isQueue,
      nameOf,
      fleet: (queue) => queueMessages(queue, names),
    },
    {
      kind: "worker",
      metrics: [],
      names,
      is: isNamedWorker,
      nameOf: ({ queue }) => queue.name,
      attach: (worker) => counts.attach(worker, worker.queue.name),
      counts: counts.source,
    },
  ];
}

function breakers(names: Names): KindOf<BreakerLike> {
  const counts = new BreakerCounts(names);
  return {
    kind: "breaker",
    metrics: BREAKER_METRICS,
    names,
    is: isBreaker,
    nameOf,
    attach: (breaker) => counts.attach(breaker),
    counts: counts.source,
    own: (breaker) => breakerState(breaker, names),
    fleet: (breaker) => breakerWindow(breaker, names),
  };
}

function drains(names: Names): KindOf<NamedDrainLike> {
  const sources = new WeakMap<NamedDrainLike, MetricsSource>();
  return {
    kind: "drain",
    metrics: DRAIN_METRICS,
    names,
    is: isDrain,
    nameOf,
    attach: (drain) => void sources.set(drain, drainSource(drain.name, drain)),
    own: (drain) => sources.get(drain),
  };
}

function fleets(names: Names): KindOf<FleetLike> {
  const sources = new WeakMap<FleetLike, MetricsSource>();
  return {
    kind: "fleet",
    metrics: FLEET_METRICS,
    names,
    is: isFleet,
    nameOf,
    attach: (fleet) => void sources.set(fleet, fleetCounts(fleet)),
    own: (fleet) => sources.get(fleet),
    fleet: (fleet) => fleetWindow(fleet, undefined),
  };
}
