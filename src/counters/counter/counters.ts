import { Beside } from "../../base/async/beside.ts";
import { Coalescer } from "../../base/async/coalescer.ts";
import { afterGathering, gathering } from "../../base/async/gathering.ts";
import { IDLE_TIMERS, type Timers } from "../../base/async/timers.ts";
import { untilEnded } from "../../base/async/within.ts";
import { type BucketName, Calendar } from "../../base/calendar.ts";
import { argumentError, checkKnown, OrielError } from "../../base/errors.ts";
import { isDate } from "../../base/realm.ts";
import { siteOf as placeIn, runOuter, type Site } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { register } from "../../store/registry/register.ts";
import { Agreement } from "./agreement.ts";
import { MAX_PENDING_BYTES, overloaded, type Pending } from "./cells/batch.ts";
import { Cells, type CounterValues } from "./cells/cells.ts";
import { Producer } from "./cells/producer.ts";
import { failoverTimes, layoutText, MAX_START_MS, MIN_START_MS, shapeKeyOf, shardKeys } from "./format/layout.ts";
import { Mirror } from "./mirror.ts";
import {
  type AddOptions,
  type AnnouncedCounters,
  type CountedEvent,
  type CountersOptions,
  countersSettings,
  countOf,
} from "./options.ts";
import { type CountersQuery, type ReadTarget, readRows, rowsQuery } from "./read.ts";
import { offsetTexts, type SourcedEvent, Sources } from "./sources.ts";
import type { CounterRow, CounterShape } from "./table.ts";

const MINUTE_MS = 60_000;
const MAX_EVENTS = 65_536;
const DAY_MS = 86_400_000;
const decoder = new TextDecoder();

const places = new WeakMap<Counters, ReadTarget>();

/** Returns the store, keys and layout of a counter, for a drain. */
export function targetOf(counters: Counters): ReadTarget {
  return places.get(counters)!;
}

/**
 * Counts events by minute, hour and day and by values of named dimensions, exactly, for any number of processes. Counts
 * lie in shards, each one key of the store; `DrainService` moves them into a SQL table.
 *
 * `add` sums up the events of one turn, and those that arrive while a batch is being sent. It resolves when the store
 * has them. An acknowledged event counts exactly once, even if its batch was sent again. A rejected event counts once
 * or not at all (`applied` "unknown").
 *
 * Memory in the process is bounded. Known values take at most 128 MiB; when full, they are dropped and collected again.
 * Rows that wait for the store take at most 64 MiB; above it `add` rejects with OVERLOADED, `applied` "no". A failover
 * needs 256 KiB per shard.
 */
export class Counters<Dimension extends string = string> {
  readonly name: string;
  readonly shape: CounterShape<Dimension>;
  readonly #at: Site;
  readonly #failedToAdd: (error: unknown) => never;
  readonly #finest: BucketName;
  readonly #cells: Cells;
  readonly #target: ReadTarget;
  readonly #pending: Pending = { bytes: 0 };
  readonly #producers: readonly Beside<Producer>[];
  readonly #sources: Sources;
  readonly #mirror: Mirror | undefined;
  /** The producers with counts of this turn. */
  readonly #dirty = new Coalescer<Producer[]>({
    schedule: afterGathering,
    begin: () => [],
    send: (producers) => {
      for (const producer of producers) producer.send();
      this.#watchGiven();
    },
  });
  readonly #timers: Timers;
  #unwatch: (() => void) | undefined;
  #isClosed = false;
  #lastMinute = Number.NaN;
  #lastStart = 0;

  /** Throws ARGUMENT for a wrong name or option. Sends nothing to the store yet. */
  constructor(store: Store, name: string, options: CountersOptions<Dimension>);
  /** @internal Tests pass timers that they step. */
  constructor(store: Store, name: string, options: CountersOptions<Dimension>, timers?: Timers);
  constructor(store: Store, name: string, options: CountersOptions<Dimension>, timers: Timers = IDLE_TIMERS) {
    this.#at = placeIn("Counters", store, name);
    this.#failedToAdd = this.#at.thrower("add");
    const { shards, replicas, mirror, onLost, ...shared } = this.#at.checked(undefined, () =>
      countersSettings(options),
    );
    const { dimensions, addedDimensions, buckets, timeZone } = shared;
    const added = addedDimensions.length;
    this.name = name;
    this.shape = Object.freeze({
      name,
      dimensions: dimensions as readonly Dimension[],
      ...(added > 0 && { added }),
      buckets,
    });
    this.#finest = buckets[0]!;
    const first = dimensions.slice(0, dimensions.length - added);
    const endBatches = () => {
      for (const producer of this.#all()) producer.endBatch();
    };
    this.#cells = new Cells(dimensions, shards, endBatches, undefined, first.length);
    const keys = shardKeys(store, name, shards);
    const layout = layoutText(shards, this.#finest, timeZone, first, addedDimensions);
    this.#target = {
      store,
      keys,
      shapeKey: shapeKeyOf(store, name),
      layout,
      shape: this.shape,
      calendar: this.#at.checked(undefined, () => new Calendar(timeZone)),
    };
    places.set(this, this.#target);
    this.#timers = timers;
    const { calendar } = this.#target;
    this.#mirror = mirror && new Mirror({ store, buckets, calendar, ...mirror });
    const onCounted = this.#mirror && ((rows: Uint8Array) => this.#mirror!.add(rows));
    const agreement = new Agreement(this.#target);
    const each = {
      store,
      shaped: this.#target,
      agreement,
      replicas,
      now: store.monotonic,
      pause: timers.pause,
      onLost,
      onCounted,
    };
    this.#producers = keys.map((key) => new Beside(() => new Producer({ ...each, key, pending: this.#pending })));
    this.#sources = new Sources(this.#target, agreement, replicas, onCounted);
    const shape = { dimensions: first, buckets, shards };
    const own: AnnouncedCounters = { timeZone, addedDimensions, replicas };
    register(store, "Counters", name, this, shape, own);
  }

  /**
   * Counts one event, or as many equal events as `options` says: a number, or an object with `count` and `at`.
   * `values` has one string for each dimension, added dimensions included.
   */
  add(values: CounterValues<Dimension>, options?: number | AddOptions): Promise<void> {
    return this.#at.traced("add", () => this.#add(values, options));
  }

  #add(values: CounterValues<Dimension>, options: number | AddOptions | undefined): Promise<void> {
    try {
      if (this.#isClosed) throw new OrielError("UNAVAILABLE", "the counters are closed");
      if (this.#pending.bytes > MAX_PENDING_BYTES) throw overloaded(this.#pending.bytes);
      const count = countOf(options);
      const at = typeof options === "number" ? undefined : options?.at;
      const startMinute = this.#startOf(at ?? Date.now());
      const cell = this.#cells.of(values);
      const { memory } = this.#cells;
      const producer = this.#producers[memory.shardOf(cell)]!.free;
      const batch = producer.batchFor(count, memory);
      if (batch.total === 0 && !producer.isBusy) this.#dirty.open().push(producer);
      batch.add(memory, cell, startMinute, count);
      if (batch.isWorthSending) producer.send();
      return batch.counted.catch(this.#failedToAdd);
    } catch (error) {
      return Promise.reject(this.#at.error("add", error));
    }
  }

  /** Throws ARGUMENT if the event cannot be counted. */
  check(event: CountedEvent<Dimension>): void {
    this.#at.checked("check", () => this.#sourced(event, ""));
  }

  /**
   * Counts events of a source that can be replayed, each once, even if events are sent again in other batches or by
   * other processes. `offset` is that of the first event, and the others follow it; or an array of rising offsets. At
   * most 65 536 events. Rejects with LOST if a failover lost counted events; the message names the offset to replay
   * from. A new process cannot detect an earlier loss. To continue the work of another process, set `replicas`.
   */
  addBatch(
    source: string,
    offset: number | bigint | readonly (number | bigint)[],
    events: readonly CountedEvent<Dimension>[],
  ): Promise<void> {
    return this.#at.run("addBatch", async () => {
      if (typeof source !== "string" || !/^[^\s\p{Surrogate}]{1,512}$/u.test(source))
        throw argumentError("source", source, "1 to 512 characters, no spaces");
      if (!Array.isArray(events) || events.length > MAX_EVENTS)
        throw argumentError("events", events, `an array of at most ${MAX_EVENTS}`);
      const offsets = offsetTexts(offset, events.length);
      await this.#sources.add(
        source,
        events.map((event: CountedEvent<Dimension>, i) => this.#sourced(event, offsets[i]!)),
      );
    });
  }

  #sourced(event: CountedEvent<Dimension>, offset: string): SourcedEvent {
    checkKnown(event, ["values", "count", "at"]);
    const count = countOf(event);
    const cell = this.#cells.of(event.values);
    const { memory } = this.#cells;
    const text = decoder.decode(memory.textOf(cell));
    return { offset, shard: memory.shardOf(cell), field: `${this.#startOf(event.at ?? Date.now())}${text}`, count };
  }

  /**
   * Returns the counts of one kind of bucket, one row for each bucket and set of values. They are exact: each event
   * that was acknowledged before counts once. With `table`, counts that were drained to it are included. Counts are
   * numbers. A count above 2^53 - 1 rejects with TOO_LARGE; with `bigint: true` counts are bigints. Cost: reads every
   * row of the counter that is still in the store. Rejects with DIVERGED if store and table do not match.
   */
  read(query?: CountersQuery<Dimension> & { bigint?: false | undefined }): Promise<CounterRow<Dimension>[]>;
  read(query: CountersQuery<Dimension> & { bigint: true }): Promise<CounterRow<Dimension, bigint>[]>;
  read(query: CountersQuery<Dimension>): Promise<CounterRow<Dimension, number | bigint>[]>;
  read(query: CountersQuery<Dimension> = {}): Promise<CounterRow<Dimension, number | bigint>[]> {
    const read = async () => readRows(this.#target, rowsQuery(this.shape, query), query);
    return runOuter(this.#at, "read", read, "no");
  }

  #startOf(when: number | Date): number {
    const at = isDate(when) ? when.getTime() : when;
    const minute = typeof at === "number" ? Math.floor(at / MINUTE_MS) : Number.NaN;
    if (minute === this.#lastMinute) return this.#lastStart;
    if (!(!Number.isNaN(minute) && at >= MIN_START_MS + DAY_MS && at <= MAX_START_MS - DAY_MS))
      throw argumentError("at", when, "a Date or ms since 1970, in the years 1000 to 9999");
    this.#lastMinute = minute;
    this.#lastStart = this.#target.calendar.startOf(this.#finest, minute);
    return this.#lastStart;
  }

  /** Checks the last batches again after a pause, because a failover may have lost them after their acknowledgement. */
  #watchGiven(): void {
    if (this.#unwatch || this.#isClosed) return;
    this.#unwatch = this.#timers.after(failoverTimes.checkMs, async () => {
      await this.#check();
      this.#unwatch = undefined;
      if (this.#all().some(({ hasUnconfirmed }) => hasUnconfirmed)) this.#watchGiven();
    });
  }

  #all(): Producer[] {
    return this.#producers.flatMap(({ all }) => all);
  }

  async #check(): Promise<void> {
    const checks = this.#all()
      .filter(({ hasUnconfirmed }) => hasUnconfirmed)
      .map((producer) => producer.check());
    await Promise.allSettled(checks);
  }

  /**
   * Waits for pending additions, and checks once that the store still has the last acknowledged batches. Later
   * additions reject. A batch with an unknown outcome is not sent again.
   */
  close(): Promise<void> {
    return this.#at.run("close", async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#unwatch?.();
      for (const producers of this.#producers) producers.close();
      for (const producer of this.#all()) producer.close();
      await gathering();
      await Promise.all(this.#all().map((producer) => untilEnded(producer.send())));
      await untilEnded(this.#check());
      await untilEnded(this.#mirror?.settled());
    });
  }
}
