import type { Column } from "../../kernel/contract.ts";
import { type Closed, isInside } from "../../time.ts";
import { Brackets } from "../runs/brackets.ts";
import type { Run } from "../runs/run.ts";
import { Core } from "../runs/run.ts";
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

interface Kept {
  /** Of the list of segments. */
  version: number;
  core: Core;
  earliestMs: number;
  latestMs: number;
  /** The window began here; events before this are in no segment of the two lists. */
  fromMs: number;
  /** Segments that are open, or hold events outside the window. */
  others: Segment[];
  brackets: Brackets;
  askedAt: number;
}

/**
 * What is remembered of windows that move on with time: per kind the closed segments wholly inside, summed up, and
 * where percentiles lay. Every answer is computed for the window asked: an event that enters or leaves is in a segment
 * that is looked at anew, and segments that are kept never change.
 */
export class Cores {
  readonly #kinds = new Map<number, Kept>();
  #asked = 0;

  /** All events inside; `version` changes whenever `segments` does, or one of them is closed. */
  fold(segments: readonly Segment[], version: number, fromMs: number, toMs: number, closed: Closed): Fold {
    const kept = this.#kept(segments, version, fromMs, toMs, closed);
    const fold = new Fold(kept.core, kept.brackets);
    for (const segment of kept.others) segment.collect(fold, fromMs, toMs, closed);
    return fold;
  }

  /** Holds on to no segment any more; where percentiles lay is still known. */
  clear(): void {
    for (const kept of this.#kinds.values()) {
      kept.version = NO_VERSION;
      kept.core = new Core([]);
      kept.others = [];
    }
  }

  #kept(segments: readonly Segment[], version: number, fromMs: number, toMs: number, closed: Closed): Kept {
    const kind = 2 * (toMs - fromMs) + (closed === "both" ? 1 : 0);
    let kept = this.#kinds.get(kind);
    if (!kept || kept.version !== version || !stillHolds(kept, fromMs, toMs, closed)) {
      kept = keep(segments, version, fromMs, toMs, closed, kept?.brackets ?? new Brackets());
      if (this.#kinds.size >= MOST_KINDS && !this.#kinds.has(kind)) this.#forgetOne();
      this.#kinds.set(kind, kept);
    }
    kept.askedAt = ++this.#asked;
    return kept;
  }

  #forgetOne(): void {
    let oldest: [number, Kept] | undefined;
    for (const entry of this.#kinds) if (!oldest || entry[1].askedAt < oldest[1].askedAt) oldest = entry;
    this.#kinds.delete(oldest![0]);
  }
}

/** Whether the segments of the core are still those that are closed and wholly inside. */
function stillHolds(kept: Kept, fromMs: number, toMs: number, closed: Closed): boolean {
  if (fromMs < kept.fromMs) return false;
  if (kept.core.runs.length > 0 && !(isInside(kept.earliestMs, fromMs, toMs, closed) && kept.latestMs <= toMs))
    return false;
  for (const other of kept.others) if (other.wholeInside(fromMs, toMs, closed)) return false;
  return true;
}

function keep(
  segments: readonly Segment[],
  version: number,
  fromMs: number,
  toMs: number,
  closed: Closed,
  brackets: Brackets,
): Kept {
  const runs: Run[] = [];
  const others: Segment[] = [];
  let earliestMs = Infinity;
  let latestMs = -Infinity;
  for (const segment of segments) {
    const whole = segment.wholeInside(fromMs, toMs, closed);
    if (whole) {
      runs.push(whole);
      earliestMs = Math.min(earliestMs, segment.earliestMs);
      latestMs = Math.max(latestMs, segment.latestMs);
      segment.forget();
    } else if (!segment.isClosed || segment.latestMs >= fromMs) others.push(segment);
  }
  const core = new Core(runs);
  return { version, core, earliestMs, latestMs, fromMs, others, brackets, askedAt: 0 };
}
