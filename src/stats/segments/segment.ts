import type { Column } from "../../kernel/contract.ts";
import { type Closed, isInside } from "../../time.ts";
import { Run } from "../runs/run.ts";
import type { Fold } from "../window-stats.ts";
import { EVENTS_PER_LEAF, EventTimes, Leaf } from "./leaf.ts";

/** Number of blocks that make a block of the next level. */
const BRANCH = 8;
/** Maximum number of events in a segment. Sorting them when the segment is closed takes at most a third of a ms. */
export const MAX_IN_SEGMENT = 16_384;
/** Maximum memory of an event: its time (4 bytes), its value twice (arrival order and sorted), and spare capacity. */
export function bytesPerEvent(valueType: number): number {
  return valueType === 1 ? 22 : 14;
}
const MIN_CAPACITY = 16;
/** Maximum number of leaves in memory, 1 to 2 kB each. Only events with times of their own can need more. */
const MAX_LEAVES = 64;

/** Consecutive events: their earliest and latest time, and their run, which is computed when a query first needs it. */
interface Block {
  earliest: number;
  latest: number;
  run: Run | undefined;
}

/**
 * At most 16 384 consecutive events, in arrival order. A closed segment has no spare capacity. It has one sorted run of
 * all its events, which answers for a window that contains the whole segment. An open segment, or one at a window's
 * edge, is read as a tree of blocks:
 *
 *   level 1  |------- 2048 -------|------- 2048 -------| ...
 *   level 0  |-256-|-256-|-256-| ...                         tail, below 256
 *
 * The largest full blocks inside the window answer with their runs. Only the leaves at an edge, and the tail, are
 * filtered by time. Blocks are computed from the raw events when a query first needs them, so an event that has left the
 * window has no effect on later answers.
 */
export class Segment {
  values: Column;
  count = 0;
  earliestMs = Number.POSITIVE_INFINITY;
  latestMs = Number.NEGATIVE_INFINITY;
  /** True if no event has an earlier time than the event before it. */
  isOrdered = true;
  readonly #maxCount: number;
  #capacity: number;
  #times: EventTimes;
  /** The run of all events; undefined while the segment is open or empty. */
  #closedRun: Run | undefined;
  #levels: Block[][] = [];
  #leaves = new Map<number, Leaf>();

  /** `expected`: the expected number of events. */
  constructor(valueType: number, expected = 0, maxCount = MAX_IN_SEGMENT) {
    const capacity = Math.min(maxCount, Math.max(expected, MIN_CAPACITY));
    this.values = valueType === 1 ? new Float64Array(capacity) : new Float32Array(capacity);
    this.#times = new EventTimes(capacity);
    this.#maxCount = maxCount;
    this.#capacity = capacity;
  }

  /** The number of events that can still be added. */
  get room(): number {
    return this.#maxCount - this.count;
  }

  /** The time of event `i`, in arrival order, in ms. */
  timeAt(i: number): number {
    return this.#times.at(i);
  }

  /** Index of the first event at `ms` or later; `count` if there is none. The segment must be ordered. */
  indexAt(ms: number): number {
    const share = (ms - this.earliestMs) / (this.latestMs - this.earliestMs);
    return this.#times.indexAt(ms, this.count, share * this.count);
  }

  /** Returns false, and adds nothing, if the segment is full. */
  append(ms: number, value: number): boolean {
    const at = this.count;
    if (at === this.#capacity) {
      if (at === this.#maxCount) return false;
      this.reserve(1);
    }
    if (at === 0) this.#times.begin(ms);
    if (!this.#times.set(at, ms)) this.dropCaches();
    this.values[at] = value;
    if (ms < this.earliestMs) this.earliestMs = ms;
    if (ms >= this.latestMs) this.latestMs = ms;
    else this.isOrdered = false;
    this.count = at + 1;
    return true;
  }

  /**
   * Makes room for `count` more events and returns the index of the first. The caller then writes `values`, and adds
   * the times with `stampAll` or `stampEach`.
   */
  reserve(count: number): number {
    const needed = this.count + count;
    if (needed > this.#capacity) this.#resize(Math.min(this.#maxCount, Math.max(needed, this.#capacity * 2)));
    return this.count;
  }

  /** Adds the next `count` values, all with the same time. */
  stampAll(ms: number, count: number): void {
    if (this.count === 0) this.#times.begin(ms);
    if (!this.#times.fill(this.count, this.count + count, ms)) this.dropCaches();
    this.#extend(ms, count);
  }

  /** Adds the next values, with the times from index `from` to before `to`. */
  stampEach(times: ArrayLike<number>, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const ms = times[i]!;
      if (this.count === 0) this.#times.begin(ms);
      if (!this.#times.set(this.count, ms)) this.dropCaches();
      this.#extend(ms, 1);
    }
  }

  /** Ends the segment: frees spare capacity, and computes the sorted run of all events. */
  close(): void {
    if (this.#closedRun || this.count === 0) return;
    if (this.#capacity > this.count) this.#resize(this.count);
    this.#closedRun = Run.of(this.values.slice());
    this.dropCaches();
  }

  get isClosed(): boolean {
    return this.#closedRun !== undefined;
  }

  /** The run of all events, if the segment is closed and lies wholly inside the window. */
  runIfInside(fromMs: number, toMs: number, closed: Closed): Run | undefined {
    if (this.latestMs > toMs || !isInside(this.earliestMs, fromMs, toMs, closed)) return undefined;
    return this.#closedRun;
  }

  /** Adds every event inside the window to `fold`. */
  collect(fold: Pick<Fold, "add">, fromMs: number, toMs: number, closed: Closed): void {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return;
    const run = this.runIfInside(fromMs, toMs, closed);
    if (run) {
      this.dropCaches();
      fold.add(run);
      return;
    }
    // Times are whole ms: `from < t` is `from + 1 <= t`.
    const first = fromMs + (closed === "both" ? 0 : 1) - this.#times.baseMs;
    const last = toMs - this.#times.baseMs;
    let top = 0;
    for (let size = EVENTS_PER_LEAF * BRANCH; size <= this.count; size *= BRANCH) top++;
    for (let i = 0; i * EVENTS_PER_LEAF * BRANCH ** top < this.count; i++) this.#visit(top, i, fold, first, last);
  }

  /** Copies the values inside the window to `into`, from index `at`, in arrival order. Returns the next free index. */
  copyInside(into: Column, at: number, fromMs: number, toMs: number, closed: Closed): number {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return at;
    for (let i = 0; i < this.count; i++)
      if (isInside(this.timeAt(i), fromMs, toMs, closed)) into[at++] = this.values[i]!;
    return at;
  }

  /** Drops the blocks and leaves that queries have computed. A query that needs them computes them again. */
  dropCaches(): void {
    if (this.#levels.length > 0) this.#levels = [];
    if (this.#leaves.size > 0) this.#leaves.clear();
  }

  #extend(ms: number, count: number): void {
    if (ms < this.earliestMs) this.earliestMs = ms;
    if (ms >= this.latestMs) this.latestMs = ms;
    else this.isOrdered = false;
    this.count += count;
  }

  #resize(capacity: number): void {
    this.#times = this.#times.resized(this.count, capacity);
    const { values } = this;
    this.values = values instanceof Float32Array ? new Float32Array(capacity) : new Float64Array(capacity);
    this.values.set(values.subarray(0, this.count));
    this.#capacity = capacity;
  }

  /** Adds the events of a block whose ticks are from `first` to `last`, both included. */
  #visit(level: number, index: number, fold: Pick<Fold, "add">, first: number, last: number): void {
    const size = EVENTS_PER_LEAF * BRANCH ** level;
    const start = index * size;
    if (start >= this.count) return;
    if (start + size <= this.count) {
      const block = this.#block(level, index);
      if (block.latest < first || block.earliest > last) return;
      if (block.earliest >= first && block.latest <= last) {
        block.run ??= Run.of(this.values.slice(start, start + size));
        fold.add(block.run);
        return;
      }
    }
    if (level === 0) this.#addLeaf(fold, start, Math.min(start + size, this.count), first, last);
    else for (let i = index * BRANCH; i < (index + 1) * BRANCH; i++) this.#visit(level - 1, i, fold, first, last);
  }

  /** A full block. Its earliest and latest time are those of its events, or of the blocks of the level below. */
  #block(level: number, index: number): Block {
    this.#levels[level] ??= [];
    const blocks = this.#levels[level];
    const known = blocks[index];
    if (known) return known;
    const block: Block = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY, run: undefined };
    if (level === 0) {
      const { ticks } = this.#times;
      for (let i = index * EVENTS_PER_LEAF; i < (index + 1) * EVENTS_PER_LEAF; i++) extend(block, ticks[i]!, ticks[i]!);
    } else
      for (let i = index * BRANCH; i < (index + 1) * BRANCH; i++) {
        const below = this.#block(level - 1, i);
        extend(block, below.earliest, below.latest);
      }
    blocks[index] = block;
    return block;
  }

  #addLeaf(fold: Pick<Fold, "add">, start: number, end: number, first: number, last: number): void {
    let leaf = this.#leaves.get(start);
    if (!leaf) {
      // The edges have left most of these leaves. If an edge returns, its leaf is computed again.
      if (this.#leaves.size >= MAX_LEAVES) this.#leaves.clear();
      leaf = new Leaf(start, this.values);
      this.#leaves.set(start, leaf);
    }
    const run = leaf.run(this.#times.ticks, this.values, end, first, last);
    if (run) fold.add(run);
  }
}

function extend(block: Block, earliest: number, latest: number): void {
  if (earliest < block.earliest) block.earliest = earliest;
  if (latest > block.latest) block.latest = latest;
}
