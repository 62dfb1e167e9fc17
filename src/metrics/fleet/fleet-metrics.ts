import { Listeners } from "../../base/async/listeners.ts";
import { idleTimeout } from "../../base/async/timers.ts";
import { argumentError, type OrielError } from "../../base/errors.ts";
import { runOuter, type Site, siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
import { CELL } from "../window/cells.ts";
import { MetricRing } from "../window/metric-ring.ts";
import { MetricView } from "../window/metric-view.ts";
import { ALLOWED, DENIED, FAILURE, LATENCY_MAX, LATENCY_MIN, LATENCY_SUM, START, SUCCESS } from "./bucket.ts";
import { FleetMetric } from "./fleet-metric.ts";
import type { BucketOutcome, NamedBucket } from "./flush.ts";
import { fleetKeyOf, latenciesNameOf } from "./keys.ts";
import { FleetLatencies } from "./latencies.ts";
import {
  type AnnouncedFleet,
  checkMetricName,
  type FleetMetricsOptions,
  type FleetSettings,
  fleetSettings,
} from "./options.ts";
import { damagedName, type NameBuckets, read } from "./read.ts";
import { eventsOf, Sender } from "./sender.ts";
import { FleetTotals, type ProcessTotals } from "./totals.ts";

const FLEET_EVENTS: Record<keyof FleetEvents, true> = { other: true, late: true, error: true };

/** The events of FleetMetrics, by name, and what their listeners receive. */
export interface FleetEvents {
  /** `maxNames` was reached: this name's numbers are counted under "". Emitted once per name and flush. */
  other: { name: string };
  /** Events that arrived too late for any window. They are not counted. */
  late: { events: number };
  /**
   * A periodic flush failed. Its counts are kept and sent again. Or a listener threw or rejected: ARGUMENT, with its
   * `cause`.
   */
  error: { error: OrielError };
}

type LatencyListener = (name: string, latencyMs: number) => void;

const PAGE_NAMES = 50;

/**
 * The numbers of `MetricWindow` over all processes that share `name`. Each process counts in memory and sends its
 * counts in one step, at most once per `flush`, whatever the number of calls and names. A request without an answer is
 * sent again and counts once. A process that dies loses up to one flush. Cost: 64 bytes per name, bucket and flush in a
 * process; about 120 bytes per name and bucket on the server.
 */
export class FleetMetrics {
  readonly name: string;
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: FleetSettings;
  readonly #sender: Sender;
  readonly #at: Site;
  readonly #listeners: Listeners<FleetEvents>;
  /** Names that have numbers of their own, or may get them. */
  readonly #own = new Set<string>();
  readonly #reportedOther = new Set<string>();
  readonly #totals = new FleetTotals();
  readonly #latencies: FleetLatencies | undefined;
  readonly #latencyListeners = new Set<LatencyListener>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** Throws ARGUMENT. */
  constructor(store: Store, name: string, options: FleetMetricsOptions = {}) {
    this.#at = siteOf("FleetMetrics", store, name);
    this.#listeners = new Listeners(this.#at, FLEET_EVENTS, (error) => ({ error }));
    this.name = name;
    this.#store = store;
    this.#settings = this.#at.checked(undefined, () => fleetSettings(options));
    this.#key = this.#at.checked(undefined, () => fleetKeyOf(store, name));
    if (this.#settings.percentiles) this.#latencies = new FleetLatencies(store, name, this.#settings.intervalMs);
    this.#sender = new Sender({
      store,
      key: this.#key,
      shape: this.#settings.shape,
      onOutcome: (given, outcome) => this.#onOutcome(given, outcome),
    });
    const { shape, intervalMs, percentiles } = this.#settings;
    const own: AnnouncedFleet = { percentiles };
    register(store, "FleetMetrics", name, this, { ...shape, interval: intervalMs }, own);
  }

  /** Calls the listener at each such event. Returns a function that removes it. */
  on<Name extends keyof FleetEvents>(event: Name, listener: (event: FleetEvents[Name]) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  /** Returns one name's counter. Keep it, because creating one has a cost. Throws ARGUMENT unless 1 to 512 characters. */
  metric(name: string): FleetMetric {
    this.#at.checked("metric", () => this.#check(name));
    return new FleetMetric({
      bucket: () => this.#bucketOf(name),
      onLatency: (latencyMs) => {
        if (!this.#latencies && this.#latencyListeners.size === 0) return;
        const counted = this.#own.has(name) ? name : "";
        this.#latencies?.add(counted, latencyMs);
        for (const listener of this.#latencyListeners) listener(counted, latencyMs);
      },
    });
  }

  /** Calls `listener` with each response time, and the name under which it counts. */
  [tap](listener: (name: string, latencyMs: number) => void): void {
    this.#latencyListeners.add(listener);
  }

  /** Sends this process's counts. Resolves when they are added; if the store does not answer, rejects and keeps them. */
  flush(): Promise<void> {
    return runOuter(this.#at, "flush", () => this.#flushAll());
  }

  async #flushAll(): Promise<void> {
    for (const error of (await this.#flush()).values()) throw error;
  }

  /** Rejects if the counts were not added. Returns the errors of names whose latencies were not added. */
  async #flush(): Promise<ReadonlyMap<string, unknown>> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reportedOther.clear();
    this.#sender.dropOld();
    if (this.#sender.hasWork) await this.#sender.learnTime();
    // Started together, so that both are sent in one round trip.
    const latencies = this.#latencies?.send((monotonicMs) => this.#sender.earliestServerMs(monotonicMs));
    await this.#sender.send();
    return (await latencies) ?? new Map();
  }

  /** Emits these names' latency errors, for an operation that does not need them. */
  #emitErrors(operation: string, errors: ReadonlyMap<string, unknown>): void {
    for (const error of errors.values())
      this.#listeners.emit("error", { error: this.#at.outer(operation, error) as OrielError });
  }

  /** One name's numbers, including unsent ones; zeros for an unknown name. One or two round trips. */
  read(name: string): Promise<MetricView> {
    const read = async () => {
      const { nowMs, names } = await this.#read(name === "" ? { first: 0, limit: 1 } : { first: 1, limit: 1000, name });
      if (names[0]?.isDamaged) throw damagedName(this.#key, name);
      return viewOf(names[0]?.buckets ?? [], nowMs, this.#settings);
    };
    return runOuter(this.#at, "read", read, "no");
  }

  /**
   * All names with numbers of their own, and "" for all others. One round trip per 50 names. Damaged buckets are left
   * out and reported as `error`.
   */
  readAll(): Promise<Map<string, MetricView>> {
    const readAll = async () => {
      const all = new Map<string, MetricView>();
      for (let first = 0; ; first += PAGE_NAMES) {
        const { nowMs, names } = await this.#read({ first, limit: PAGE_NAMES });
        for (const { name, buckets, isDamaged } of names) {
          if (isDamaged) this.#emitDamaged("readAll", name);
          all.set(name, viewOf(buckets, nowMs, this.#settings));
        }
        if (names.length < PAGE_NAMES) return all;
      }
    };
    return runOuter(this.#at, "readAll", readAll, "no");
  }

  /**
   * Exact percentiles (0 to 100) of one name's response times in the last interval, over all processes; NaN if none.
   * Throws ARGUMENT unless the option `percentiles` is set.
   */
  latencyPercentilesMs(name: string, percentiles: readonly number[]): Promise<number[]> {
    const ask = async () => {
      if (!this.#latencies) throw argumentError("percentiles", false, "set to true in the options");
      if (name !== "") this.#check(name);
      if (!Array.isArray(percentiles))
        throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
      const errors = new Map(await this.#flush());
      if (errors.has(name)) throw errors.get(name);
      this.#emitErrors("latencyPercentilesMs", errors);
      return this.#latencies.percentiles(name, percentiles);
    };
    return runOuter(this.#at, "latencyPercentilesMs", ask, "no");
  }

  /** This process's counts since it started, by name; "" for all names without own numbers. No request. */
  totals(): ReadonlyMap<string, ProcessTotals> {
    return this.#totals.with(this.#sender.pending());
  }

  /** Whether `latencyPercentilesMs` answers. */
  get hasPercentiles(): boolean {
    return this.#latencies !== undefined;
  }

  /** Sends the remaining counts. Later counts are sent only by `flush`. */
  close(): Promise<void> {
    this.#isClosed = true;
    return runOuter(this.#at, "close", async () => {
      await this.#flushAll();
      await this.#latencies?.close();
    });
  }

  #bucketOf(name: string): Float64Array {
    const hasRoom = this.#own.has(name) || this.#own.size < this.#settings.shape.maxNames;
    if (hasRoom) this.#own.add(name);
    else this.#emitOther(name);
    if (this.#timer === undefined && !this.#isClosed) this.#flushLater(this.#settings.flushMs);
    return this.#sender.bucketOf(hasRoom ? name : "");
  }

  #flushLater(ms: number): void {
    this.#timer = idleTimeout(() => {
      this.flush().catch((error) => {
        this.#store.goesOnWithout?.(`${this.#at.name} keeps its counts in this process`, error);
        this.#listeners.emit("error", { error });
        if (this.#timer === undefined && !this.#isClosed) this.#flushLater(ms);
      });
    }, ms);
  }

  #onOutcome({ name, bucket }: NamedBucket, outcome: BucketOutcome): void {
    this.#totals.add(outcome === "added to others" ? "" : name, bucket);
    if (outcome === "added to others") {
      this.#own.delete(name);
      this.#totals.mergeIntoOthers(name);
      this.#emitOther(name);
    } else if (outcome === "replaced") this.#emitDamaged("flush", name);
    else if (outcome === "too late") this.#listeners.emit("late", { events: eventsOf(bucket) });
  }

  #emitOther(name: string): void {
    if (this.#reportedOther.has(name) || this.#reportedOther.size >= this.#settings.shape.maxNames) return;
    this.#reportedOther.add(name);
    this.#listeners.emit("other", { name });
  }

  /** Throws ARGUMENT for a name that cannot be stored or be part of a key. */
  #check(name: unknown): asserts name is string {
    checkMetricName(name);
    if (this.#latencies) this.#store.keyOf(latenciesNameOf(this.name, name));
  }

  #emitDamaged(operation: string, name: string): void {
    this.#listeners.emit("error", { error: this.#at.outer(operation, damagedName(this.#key, name)) as OrielError });
  }

  async #read({ first, limit, name = "" }: { first: number; limit: number; name?: string }) {
    this.#emitErrors("read", await this.#flush());
    return this.#store.run(read, this.#key, { ...this.#settings.shape, first, limit, name }) as Promise<{
      nowMs: number;
      names: NameBuckets[];
    }>;
  }
}

const FIELD_OF_CELL = [
  [CELL.allowed, ALLOWED],
  [CELL.denied, DENIED],
  [CELL.success, SUCCESS],
  [CELL.failure, FAILURE],
  [CELL.latencySumMs, LATENCY_SUM],
  [CELL.minLatencyMs, LATENCY_MIN],
  [CELL.maxLatencyMs, LATENCY_MAX],
] as const;

/** The answer of a `MetricWindow` at `nowMs` with these buckets. A snapshot: it does not change. */
function viewOf(buckets: readonly Float64Array[], nowMs: number, settings: FleetSettings): MetricView {
  const { shape, intervalMs, mode } = settings;
  const ring = new MetricRing(shape.sampleCount, intervalMs, false);
  for (const bucket of buckets) {
    ring.turn(bucket[START]!);
    for (const [cell, field] of FIELD_OF_CELL) ring.current[cell] = bucket[field]!;
  }
  // As in `MetricWindow`: the current bucket replaces the one that is an interval old.
  if (mode === "sentinel") ring.turn(nowMs);
  const source = { ring, mode, clock: () => nowMs, percentiles: undefined, refresh: () => {} };
  return new MetricView(source, shape.sampleCount, intervalMs);
}
