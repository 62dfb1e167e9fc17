import type { Column } from "../../kernel/contract.ts";
import { type Closed, isInside } from "../../time.ts";
import { Brackets } from "../runs/brackets.ts";
import type { Run } from "../runs/run.ts";
import { CachedAggregate } from "../runs/run.ts";
import { Fold } from "../window-stats.ts";
import { MOST_IN_SEGMENT, Segment } from "./segment.ts";

/** Events in arrival order, as segments of which the last may be open. */
export class Segments {
  list: Segment[] = [];
  /** Changes whenever the list does, or a segment is closed. */
  version = 0;
  readonly #valueType: number;
  readonly #most: number;
  #open: Segment | undefined;
  #closedCount = 0;

  /** `most` events in a segment, for tests that need many. */
  constructor(valueType: number, most = MOST_IN_SEGMENT) {
    this.#valueType = valueType;
    this.#most = most;
  }

  get count(): number {
    return this.#closedCount + this.openCount;
  }

  /** Events of the one that is not closed. */
  get openCount(): number {
    return this.#open?.count ?? 0;
  }

  /** One with room, made where there is none; as large as the last one was. */
  open(): Segment {
    return this.#open ?? this.#begin();
  }

  #begin(): Segment {
    this.#open = new Segment(this.#valueType, this.list.at(-1)?.count, this.#most);
    this.list.push(this.#open);
    this.version++;
    return this.#open;
  }

  /** Told after events were put into the open one: closes it when it is full. */
  filled(): void {
    if (this.#open?.room === 0) this.close();
  }

  /** No more events come into the segment that is open. */
  close(): void {
    if (!this.#open) return;
    this.#open.close();
    this.#closedCount += this.#open.count;
    this.#open = undefined;
    this.version++;
  }

  /** Takes out the first segment. */
  shift(): Segment | undefined {
    const first = this.list.shift();
    if (first === this.#open) this.#open = undefined;
    else if (first) this.#closedCount -= first.count;
    this.version++;
    return first;
  }

  append(ms: number, value: number): void {
    if (!this.open().append(ms, value)) {
      this.close();
      this.open().append(ms, value);
    }
  }

  /** Events in order, at one time or each at its own. */
  appendAll(values: Column, times: number | ArrayLike<number>): void {
    for (let from = 0; from < values.length; ) {
      const segment = this.open();
      const count = Math.min(segment.room, values.length - from);
      const at = segment.reserve(count);
      segment.values.set(count === values.length ? values : values.subarray(from, from + count), at);
      if (typeof times === "number") segment.stampAll(times, count);
      else segment.stampEach(times, from, from + count);
      from += count;
      this.filled();
    }
  }

  /** Lets go of segments whose events are all older than `ms`; false when there is none. */
  dropBefore(ms: number): boolean {
    if (!this.list.some(({ latestMs }) => latestMs < ms)) return false;
    this.list = this.list.filter(({ latestMs }) => latestMs >= ms);
    if (this.#open && !this.list.includes(this.#open)) this.#open = undefined;
    this.#closedCount = -this.openCount;
    for (const { count } of this.list) this.#closedCount += count;
    this.version++;
    return true;
  }
}

/** Kinds of windows, by span and closed side, that are remembered; the one not asked for longest is forgotten. */
const MOST_KINDS = 8;
const NO_VERSION = -1;

interface CachedWindow {
  /** Of the list of segments. */
  version: number;
  aggregate: CachedAggregate;
  earliestMs: number;
  latestMs: number;
  /** The window began here; events before this are in no segment of the two lists. */
  fromMs: number;
  /** Segments that are open, or hold events outside the window. */
  remaining: Segment[];
  brackets: Brackets;
  lastUsed: number;
}

/**
 * What is remembered of windows that move on with time: per kind the closed segments wholly inside, summed up, and
 * where percentiles lay. Every answer is computed for the window asked: an event that enters or leaves is in a segment
 * that is looked at anew, and segments that are cached never change.
 */
export class WindowCache {
  readonly #kinds = new Map<number, CachedWindow>();
  #uses = 0;

  /** All events inside; `version` changes whenever `segments` does, or one of them is closed. */
  fold(segments: readonly Segment[], version: number, fromMs: number, toMs: number, closed: Closed): Fold {
    const cached = this.#windowOf(segments, version, fromMs, toMs, closed);
    const fold = new Fold(cached.aggregate, cached.brackets);
    for (const segment of cached.remaining) segment.collect(fold, fromMs, toMs, closed);
    return fold;
  }

  /** Holds on to no segment any more; where percentiles lay is still known. */
  clear(): void {
    for (const cached of this.#kinds.values()) {
      cached.version = NO_VERSION;
      cached.aggregate = new CachedAggregate([]);
      cached.remaining = [];
    }
  }

  #windowOf(segments: readonly Segment[], version: number, fromMs: number, toMs: number, closed: Closed): CachedWindow {
    const kind = 2 * (toMs - fromMs) + (closed === "both" ? 1 : 0);
    let cached = this.#kinds.get(kind);
    if (!cached || cached.version !== version || !isStillValid(cached, fromMs, toMs, closed)) {
      cached = aggregateWindow(segments, version, fromMs, toMs, closed, cached?.brackets ?? new Brackets());
      if (this.#kinds.size >= MOST_KINDS && !this.#kinds.has(kind)) this.#evictOne();
      this.#kinds.set(kind, cached);
    }
    cached.lastUsed = ++this.#uses;
    return cached;
  }

  #evictOne(): void {
    let oldest: [number, CachedWindow] | undefined;
    for (const entry of this.#kinds) if (!oldest || entry[1].lastUsed < oldest[1].lastUsed) oldest = entry;
    this.#kinds.delete(oldest![0]);
  }
}

/** Whether the segments of the core are still those that are closed and wholly inside. */
function isStillValid(cached: CachedWindow, fromMs: number, toMs: number, closed: Closed): boolean {
  if (fromMs < cached.fromMs) return false;
  if (
    cached.aggregate.runs.length > 0 &&
    !(isInside(cached.earliestMs, fromMs, toMs, closed) && cached.latestMs <= toMs)
  )
    return false;
  for (const segment of cached.remaining) if (segment.wholeInside(fromMs, toMs, closed)) return false;
  return true;
}

function aggregateWindow(
  segments: readonly Segment[],
  version: number,
  fromMs: number,
  toMs: number,
  closed: Closed,
  brackets: Brackets,
): CachedWindow {
  const runs: Run[] = [];
  const remaining: Segment[] = [];
  let earliestMs = Infinity;
  let latestMs = -Infinity;
  for (const segment of segments) {
    const whole = segment.wholeInside(fromMs, toMs, closed);
    if (whole) {
      runs.push(whole);
      earliestMs = Math.min(earliestMs, segment.earliestMs);
      latestMs = Math.max(latestMs, segment.latestMs);
      segment.forget();
    } else if (!segment.isClosed || segment.latestMs >= fromMs) remaining.push(segment);
  }
  const aggregate = new CachedAggregate(runs);
  return { version, aggregate, earliestMs, latestMs, fromMs, remaining, brackets, lastUsed: 0 };
}
