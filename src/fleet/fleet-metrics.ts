import { Listeners } from "../async/listeners.ts";
import { argumentError, corruptError, type OrielError } from "../errors.ts";
import type { MetricView } from "../metrics/metric-view.ts";
import { type Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";
import { FleetMetric } from "./fleet-metric.ts";
import type { Fate, NamedBucket } from "./flush.ts";
import { fleetKeyOf, latenciesNameOf } from "./keys.ts";
import { FleetLatencies } from "./latencies.ts";
import { numbersOf } from "./numbers.ts";
import { type FleetMetricsOptions, type FleetSettings, fleetSettings } from "./options.ts";
import { type NameBuckets, read } from "./read.ts";
import { eventsOf, Sender } from "./sender.ts";
import { FleetTotals, type ProcessTotals } from "./totals.ts";

const FLEET_EVENTS: Record<keyof FleetEvents, true> = { other: true, late: true, error: true };

export interface FleetEvents {
  /** There was no room for a name: its numbers are with those of all others. Told once a name and flush. */
  other: { name: string };
  /** Events that came too late for any window, and count nowhere. */
  late: { events: number };
  /** A flush of our own failed; what was counted is kept and sent again. */
  error: { error: OrielError };
}

const MOST_NAME_BYTES = 512;
const LONE_SURROGATE = /\p{Surrogate}/u;
const PAGE_NAMES = 50;

/**
 * The numbers of `MetricWindow` over all processes that share `name`: each counts in memory, and sends what it counted as
 * one step, at most every `flush`, whatever the number of calls and names. What is under way is sent again until it is
 * answered and counts once; a process that dies takes up to one flush with it. Costs a process 64 bytes a name and bucket
 * and flush, the server some 120 bytes a name and bucket.
 */
export class FleetMetrics {
  readonly name: string;
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: FleetSettings;
  readonly #sender: Sender;
  readonly #at: Place;
  readonly #listeners: Listeners<FleetEvents>;
  /** Names that have, or may get, numbers of their own. */
  readonly #own = new Set<string>();
  readonly #told = new Set<string>();
  readonly #totals = new FleetTotals();
  readonly #latencies: FleetLatencies | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** Throws ARGUMENT. */
  constructor(store: Store, name: string, options: FleetMetricsOptions = {}) {
    this.#at = placeOf("FleetMetrics", store, name);
    this.#listeners = new Listeners(this.#at, FLEET_EVENTS);
    this.name = name;
    this.#store = store;
    this.#settings = this.#at.checked(undefined, () => fleetSettings(options));
    this.#key = this.#at.checked(undefined, () => fleetKeyOf(store, name));
    if (this.#settings.hasPercentiles) this.#latencies = new FleetLatencies(store, name, this.#settings.intervalMs);
    this.#sender = new Sender({
      store,
      key: this.#key,
      shape: this.#settings.shape,
      onFate: (given, fate) => this.#hear(given, fate),
    });
  }

  on<Name extends keyof FleetEvents>(event: Name, listener: (told: FleetEvents[Name]) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  /** Where one name's numbers are counted; keep it, it costs a little to make. A name has 1 to 512 characters; ARGUMENT for others. */
  metric(name: string): FleetMetric {
    this.#at.checked("metric", () => this.#checkName(name));
    return new FleetMetric({
      bucket: () => this.#bucketOf(name),
      onLatency: this.#latencies && ((latencyMs) => this.#latencies!.add(this.#own.has(name) ? name : "", latencyMs)),
    });
  }

  /** Sends what this process has counted; resolves when it is added. Rejects where the store does not answer: all is kept. */
  flush(): Promise<void> {
    return this.#at.runOuter("flush", () => this.#flushAll());
  }

  async #flushAll(): Promise<void> {
    for (const error of (await this.#flush()).values()) throw error;
  }

  /** Rejects where the counts were not added; gives the errors of names whose latencies were not. */
  async #flush(): Promise<ReadonlyMap<string, unknown>> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told.clear();
    this.#sender.dropOld();
    if (this.#sender.hasWork) await this.#sender.learnTime();
    // Begun together, they are one round trip.
    const latencies = this.#latencies?.send((monotonicMs) => this.#sender.serverMs(monotonicMs));
    await this.#sender.send();
    return (await latencies) ?? new Map();
  }

  /** For a question that the latencies of these names have no part in. */
  #tellErrors(operation: string, errors: ReadonlyMap<string, unknown>): void {
    for (const error of errors.values())
      this.#listeners.tell("error", { error: this.#at.outer(operation, error) as OrielError });
  }

  /** One name's numbers, with all that this process has counted. A name without any: zeros. One round trip, or two. */
  async read(name: string): Promise<MetricView> {
    try {
      const { nowMs, names } = await this.#read(name === "" ? { first: 0, most: 1 } : { first: 1, most: 1000, name });
      if (names[0]?.isDamaged) throw this.#damaged(name);
      return numbersOf(names[0]?.buckets ?? [], nowMs, this.#settings);
    } catch (error) {
      throw this.#at.outer("read", error, "no");
    }
  }

  /**
   * All names that have numbers of their own, and "": all others. A round trip for each 50. Buckets that are damaged are left
   * out, and told as `error`.
   */
  async readAll(): Promise<Map<string, MetricView>> {
    const all = new Map<string, MetricView>();
    try {
      for (let first = 0; ; first += PAGE_NAMES) {
        const { nowMs, names } = await this.#read({ first, most: PAGE_NAMES });
        for (const { name, buckets, isDamaged } of names) {
          if (isDamaged) this.#tellDamaged("readAll", name);
          all.set(name, numbersOf(buckets, nowMs, this.#settings));
        }
        if (names.length < PAGE_NAMES) return all;
      }
    } catch (error) {
      throw this.#at.outer("readAll", error, "no");
    }
  }

  /**
   * Exact percentiles (each from 0 to 100) of one name's response times in the last interval, of all processes; NaN without any.
   * Throws ARGUMENT where the option `percentiles` is not set.
   */
  async latencyPercentilesMs(name: string, percentiles: readonly number[]): Promise<number[]> {
    try {
      if (!this.#latencies) throw argumentError("percentiles", false, "set to true in the options");
      if (name !== "") this.#checkName(name);
      if (!Array.isArray(percentiles))
        throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
      const errors = new Map(await this.#flush());
      if (errors.has(name)) throw errors.get(name);
      this.#tellErrors("latencyPercentilesMs", errors);
      return await this.#latencies.percentiles(name, percentiles);
    } catch (error) {
      throw this.#at.outer("latencyPercentilesMs", error, "no");
    }
  }

  /** What this process has counted since it began, by name; "": all names without numbers of their own. Asks no store. */
  totals(): ReadonlyMap<string, ProcessTotals> {
    return this.#totals.with(this.#sender.pending());
  }

  /** Whether `latencyPercentilesMs` answers. */
  get hasPercentiles(): boolean {
    return this.#latencies !== undefined;
  }

  /** Sends what is left. What is counted afterwards is sent by `flush` only. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#flushAll();
      await this.#latencies?.close();
    } catch (error) {
      throw this.#at.outer("close", error);
    }
  }

  #bucketOf(name: string): Float64Array {
    const hasRoom = this.#own.has(name) || this.#own.size < this.#settings.shape.mostNames;
    if (hasRoom) this.#own.add(name);
    else this.#tellOther(name);
    if (this.#timer === undefined && !this.#isClosed) this.#flushLater(this.#settings.flushMs);
    return this.#sender.bucketOf(hasRoom ? name : "");
  }

  #flushLater(ms: number): void {
    this.#timer = setTimeout(() => {
      this.flush().catch((error) => {
        this.#listeners.tell("error", { error });
        if (this.#timer === undefined && !this.#isClosed) this.#flushLater(ms);
      });
    }, ms);
    // Of a number, where a runtime's timers are numbers.
    (this.#timer as { unref?(): void }).unref?.();
  }

  #hear({ name, bucket }: NamedBucket, fate: Fate): void {
    this.#totals.add(fate === "added to others" ? "" : name, bucket);
    if (fate === "added to others") {
      this.#own.delete(name);
      this.#totals.mergeIntoOthers(name);
      this.#tellOther(name);
    } else if (fate === "replaced") this.#tellDamaged("flush", name);
    else if (fate === "too late") this.#listeners.tell("late", { events: eventsOf(bucket) });
  }

  #tellOther(name: string): void {
    if (this.#told.has(name) || this.#told.size >= this.#settings.shape.mostNames) return;
    this.#told.add(name);
    this.#listeners.tell("other", { name });
  }

  /** Whether it may stand in the names that others read, and in a key. */
  #checkName(name: unknown): void {
    if (typeof name !== "string" || name.length < 1 || name.length > MOST_NAME_BYTES || LONE_SURROGATE.test(name))
      throw argumentError("name", name, `a string of 1 to ${MOST_NAME_BYTES} characters, without lone surrogates`);
    if (this.#latencies) this.#store.keyOf(latenciesNameOf(this.name, name));
  }

  #damaged(name: string): OrielError {
    return corruptError(
      this.#key,
      `a bucket of ${name === "" ? "all other names" : JSON.stringify(name)} has another size, or numbers that nobody counted`,
    );
  }

  #tellDamaged(operation: string, name: string): void {
    this.#listeners.tell("error", { error: this.#at.outer(operation, this.#damaged(name)) as OrielError });
  }

  async #read({ first, most, name = "" }: { first: number; most: number; name?: string }) {
    this.#tellErrors("read", await this.#flush());
    return this.#store.run(read, this.#key, { ...this.#settings.shape, first, most, name }) as Promise<{
      nowMs: number;
      names: NameBuckets[];
    }>;
  }
}
