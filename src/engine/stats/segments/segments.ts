import { type Closed, isInside } from "../../../base/time.ts";
import type { Column } from "../../kernel/contract.ts";
import { RankBrackets } from "../runs/brackets.ts";
import type { Run } from "../runs/run.ts";
import { CachedAggregate } from "../runs/run.ts";
import { Fold } from "../window-stats.ts";
import type { PackedEvents } from "./packed-events.ts";
import { maxInSegment, Segment } from "./segment.ts";

/** Events in arrival order, as a list of segments. Only the last one may be open. */
export class Segments {
  list: Segment[] = [];
  /** Increases when the list changes or a segment is closed. */
  version = 0;
  readonly #valueType: number;
  readonly #maxCount: number;
  readonly #Packed: typeof PackedEvents | undefined;
  #open: Segment | undefined;
  #closedCount = 0;
  #closedBytes = 0;
  /** Events that come after those of the closed segments, as far as known. */
  #expected = 0;

  /**
   * `maxCount`: maximum number of events in a segment. Tests pass small ones, to get many segments. `Packed`: packs each segment
   * when it is closed.
   */
  constructor(valueType: number, maxCount = maxInSegment(valueType), Packed?: typeof PackedEvents) {
    this.#valueType = valueType;
    this.#maxCount = maxCount;
    this.#Packed = Packed;
  }

  get count(): number {
    return this.#closedCount + this.openCount;
  }

  /** Memory of the events, at most, without caches. */
  get sizeBytes(): number {
    return this.#closedBytes + (this.#open?.sizeBytes ?? 0);
  }

  /** Number of events in the open segment. */
  get openCount(): number {
    return this.#open?.count ?? 0;
  }

  /** Makes room for `count` more events, so that no column grows step by step. Nothing for 0 or less. */
  expect(count: number): void {
    if (count <= 0) return;
    this.#expected = this.openCount + count;
    const open = this.open();
    open.reserve(Math.min(open.room, count));
  }

  /** The open segment, which has room for an event. If there is none, one is added, with room for those expected, or as many as in the last. */
  open(): Segment {
    return this.#open ?? this.#begin();
  }

  #begin(): Segment {
    const expected = this.#expected > 0 ? this.#expected : this.list.at(-1)?.count;
    this.#open = new Segment(this.#valueType, expected, this.#maxCount);
    this.list.push(this.#open);
    this.version++;
    return this.#open;
  }

  /** Closes the open segment if it is full. Call it after adding events to the segment directly. */
  closeIfFull(): void {
    if (this.#open?.room === 0) this.close();
  }

  /** Closes the open segment. */
  close(): void {
    if (!this.#open) return;
    this.#open.close(this.#Packed);
    this.#closedCount += this.#open.count;
    this.#expected -= this.#open.count;
    this.#closedBytes += this.#open.sizeBytes;
    this.#open = undefined;
    this.version++;
  }

  /** Packs the first closed segment that is not packed. Returns false if there is none. */
  packNext(Packed: typeof PackedEvents): boolean {
    for (const segment of this.list) {
      const { sizeBytes } = segment;
      if (!segment.pack(Packed)) continue;
      this.#closedBytes += segment.sizeBytes - sizeBytes;
      this.version++;
      return true;
    }
    return false;
  }

  /** Removes the first segment and returns it. */
  shift(): Segment | undefined {
    const first = this.list.shift();
    if (first === this.#open) this.#open = undefined;
    else if (first) this.#forget(first);
    this.version++;
    return first;
  }

  append(ms: number, value: number): void {
    if (!this.open().append(ms, value)) {
      this.close();
      this.open().append(ms, value);
    }
  }

  /** Adds events in order. `times` is one time for all events, or one per event. */
  appendAll(values: Column, times: number | ArrayLike<number>): void {
    for (let from = 0; from < values.length; ) {
      const segment = this.open();
      const count = Math.min(segment.room, values.length - from);
      const at = segment.reserve(count);
      segment.values.set(count === values.length ? values : values.subarray(from, from + count), at);
      if (typeof times === "number") segment.stampAll(times, count);
      else segment.stampEach(times, from, from + count);
      from += count;
      this.closeIfFull();
    }
  }

  /** Whether the events from index `from` on are these, to the bit. There is one time for each. */
  hasAt(from: number, times: Float64Array, values: Column): boolean {
    let first = 0;
    let i = 0;
    for (const segment of this.list) {
      for (; i < times.length && from + i < first + segment.count; i++) {
        const at = from + i - first;
        if (segment.timeAt(at) !== times[i] || !Object.is(segment.valueAt(at), values[i])) return false;
      }
      first += segment.count;
    }
    return i === times.length;
  }

  /** Drops the segments whose events are all before `ms`. Returns false if there is none. */
  dropBefore(ms: number): boolean {
    if (!this.list.some(({ latestMs }) => latestMs < ms)) return false;
    for (const segment of this.list) {
      if (segment.latestMs >= ms) continue;
      if (segment === this.#open) this.#open = undefined;
      else this.#forget(segment);
    }
    this.list = this.list.filter(({ latestMs }) => latestMs >= ms);
    this.version++;
    return true;
  }

  #forget(closed: Segment): void {
    this.#closedCount -= closed.count;
    this.#closedBytes -= closed.sizeBytes;
  }
}

/** Maximum number of cached windows, by span and closed side. Above it the least recently used one is evicted. */
const MAX_WINDOWS = 8;
const NO_VERSION = -1;

interface CachedWindow {
  /** Version of the list of segments. */
  version: number;
  aggregate: CachedAggregate;
  earliestMs: number;
  latestMs: number;
  /** Start of the window. Segments whose events are all before it are in neither list. */
  fromMs: number;
  /** Segments that are open, or have events outside the window. */
  remaining: Segment[];
  brackets: RankBrackets;
  lastUsed: number;
}

/**
 * A cache for windows that move with time. For each pair of span and closed side it keeps the aggregate of the closed
 * segments wholly inside, and the brackets of percentiles. Answers are exact: aggregated segments never change, and
 * every event that enters or leaves the window is in one of the remaining segments, which each query reads again.
 */
export class WindowCache {
  readonly #windows = new Map<number, CachedWindow>();
  #uses = 0;

  /** The fold of all events inside. `version` must change if `segments` changes or one of them is closed. */
  fold(segments: readonly Segment[], version: number, fromMs: number, toMs: number, closed: Closed): Fold {
    const cached = this.#windowOf(segments, version, fromMs, toMs, closed);
    const fold = new Fold(cached.aggregate, cached.brackets);
    for (const segment of cached.remaining) segment.collect(fold, fromMs, toMs, closed);
    return fold;
  }

  /** True if the window's span and side are cached. */
  has(spanMs: number, closed: Closed): boolean {
    return this.#windows.has(keyOf(spanMs, closed));
  }

  /** Drops every reference to a segment. The brackets stay. */
  clear(): void {
    for (const cached of this.#windows.values()) {
      cached.version = NO_VERSION;
      cached.aggregate = new CachedAggregate([]);
      cached.remaining = [];
    }
  }

  #windowOf(segments: readonly Segment[], version: number, fromMs: number, toMs: number, closed: Closed): CachedWindow {
    const key = keyOf(toMs - fromMs, closed);
    let cached = this.#windows.get(key);
    if (!cached || cached.version !== version || !isStillValid(cached, fromMs, toMs, closed)) {
      cached = aggregateWindow(segments, version, fromMs, toMs, closed, cached?.brackets ?? new RankBrackets());
      if (this.#windows.size >= MAX_WINDOWS && !this.#windows.has(key)) this.#evictOne();
      this.#windows.set(key, cached);
    }
    cached.lastUsed = ++this.#uses;
    return cached;
  }

  #evictOne(): void {
    let oldest: [number, CachedWindow] | undefined;
    for (const entry of this.#windows) if (!oldest || entry[1].lastUsed < oldest[1].lastUsed) oldest = entry;
    this.#windows.delete(oldest![0]);
  }
}

function keyOf(spanMs: number, closed: Closed): number {
  return 2 * spanMs + (closed === "both" ? 1 : 0);
}

/** True if the aggregated segments are still exactly the closed ones wholly inside the window. */
function isStillValid(cached: CachedWindow, fromMs: number, toMs: number, closed: Closed): boolean {
  if (fromMs < cached.fromMs) return false;
  if (
    cached.aggregate.runs.length > 0 &&
    !(isInside(cached.earliestMs, fromMs, toMs, closed) && cached.latestMs <= toMs)
  )
    return false;
  for (const segment of cached.remaining) if (segment.runIfInside(fromMs, toMs, closed)) return false;
  return true;
}

function aggregateWindow(
  segments: readonly Segment[],
  version: number,
  fromMs: number,
  toMs: number,
  closed: Closed,
  brackets: RankBrackets,
): CachedWindow {
  const runs: Run[] = [];
  const remaining: Segment[] = [];
  let earliestMs = Number.POSITIVE_INFINITY;
  let latestMs = Number.NEGATIVE_INFINITY;
  for (const segment of segments) {
    const run = segment.runIfInside(fromMs, toMs, closed);
    if (run) {
      runs.push(run);
      earliestMs = Math.min(earliestMs, segment.earliestMs);
      latestMs = Math.max(latestMs, segment.latestMs);
      segment.dropCaches();
    } else if (!segment.isClosed || segment.latestMs >= fromMs) remaining.push(segment);
    else segment.dropCaches();
  }
  const aggregate = new CachedAggregate(runs);
  return { version, aggregate, earliestMs, latestMs, fromMs, remaining, brackets, lastUsed: 0 };
}
