import { argumentError, type OrielError } from "../errors.ts";
import { Listeners } from "../listeners.ts";
import type { MetricView } from "../metrics/metric-view.ts";
import { type Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";
import { FleetMetric } from "./fleet-metric.ts";
import { FleetRts } from "./fleet-rts.ts";
import type { Fate, NamedBucket } from "./flush.ts";
import { numbersOf } from "./numbers.ts";
import { type FleetMetricsOptions, type FleetSettings, fleetSettings } from "./options.ts";
import { type NameBuckets, read } from "./read.ts";
import { eventsOf, Sender } from "./sender.ts";

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
  readonly #rts: FleetRts | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** Throws ARGUMENT. */
  constructor(store: Store, name: string, options: FleetMetricsOptions = {}) {
    this.#at = placeOf("FleetMetrics", store, name);
    this.#listeners = new Listeners(this.#at, FLEET_EVENTS);
    this.name = name;
    this.#store = store;
    this.#settings = this.#at.checked(undefined, () => fleetSettings(options));
    this.#key = this.#at.checked(undefined, () => store.keyOf(`${name}:fleet`));
    if (this.#settings.hasPercentiles) this.#rts = new FleetRts(store, name, this.#settings.intervalMs);
    this.#sender = new Sender({
      store,
      key: this.#key,
      shape: this.#settings.shape,
      onFate: (given, fate) => this.#hear(given, fate),
      onLate: (events) => this.#listeners.tell("late", { events }),
    });
  }

  on<Name extends keyof FleetEvents>(event: Name, listener: (told: FleetEvents[Name]) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  /** Where one name's numbers are counted; keep it, it costs a little to make. A name has 1 to 512 characters. */
  metric(name: string): FleetMetric {
    if (typeof name !== "string" || name.length < 1 || name.length > MOST_NAME_BYTES)
      throw argumentError("name", name, `a string of 1 to ${MOST_NAME_BYTES} characters`);
    return new FleetMetric({
      bucket: () => this.#bucketOf(name),
      onRt: this.#rts && ((rtMs) => this.#rts!.add(this.#own.has(name) ? name : "", rtMs)),
    });
  }

  /** Sends what this process has counted; resolves when it is added. Rejects where the store does not answer: all is kept. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told.clear();
    this.#sender.dropOld();
    if (this.#sender.hasWork) await this.#sender.learnTime();
    // Begun together, they are one round trip.
    await Promise.all([this.#sender.send(), this.#rts?.send((monotonicMs) => this.#sender.serverMs(monotonicMs))]);
  }

  /** One name's numbers, with all that this process has counted. A name without any: zeros. One round trip, or two. */
  async read(name: string): Promise<MetricView> {
    const { nowMs, names } = await this.#read(name === "" ? { first: 0, most: 1 } : { first: 1, most: 1000, name });
    return numbersOf(names[0]?.buckets ?? [], nowMs, this.#settings);
  }

  /** All names that have numbers of their own, and "": all others. A round trip for each 50. */
  async readAll(): Promise<Map<string, MetricView>> {
    const all = new Map<string, MetricView>();
    for (let first = 0; ; first += PAGE_NAMES) {
      const { nowMs, names } = await this.#read({ first, most: PAGE_NAMES });
      for (const { name, buckets } of names) all.set(name, numbersOf(buckets, nowMs, this.#settings));
      if (names.length < PAGE_NAMES) return all;
    }
  }

  /**
   * Exact percentiles (each from 0 to 100) of one name's response times in the last interval, of all processes; NaN without any.
   * Throws ARGUMENT where the option `percentiles` is not set.
   */
  async rtPercentiles(name: string, percentiles: readonly number[]): Promise<number[]> {
    if (!this.#rts) throw argumentError("percentiles", false, "set to true in the options");
    await this.flush();
    return this.#rts.percentiles(name, percentiles);
  }

  /** Sends what is left. What is counted afterwards is sent by `flush` only. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    await this.#rts?.close();
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
    if (fate === "added to others") {
      this.#own.delete(name);
      this.#tellOther(name);
    } else if (fate === "too late") this.#listeners.tell("late", { events: eventsOf(bucket) });
  }

  #tellOther(name: string): void {
    if (this.#told.has(name) || this.#told.size >= this.#settings.shape.mostNames) return;
    this.#told.add(name);
    this.#listeners.tell("other", { name });
  }

  async #read({ first, most, name = "" }: { first: number; most: number; name?: string }) {
    await this.flush();
    return this.#store.run(read, this.#key, { ...this.#settings.shape, first, most, name }) as Promise<{
      nowMs: number;
      names: NameBuckets[];
    }>;
  }
}
