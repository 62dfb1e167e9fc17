import type { Column } from "../../kernel/contract.ts";
import { type Closed, isInside } from "../../time.ts";
import { Run } from "../runs/run.ts";
import type { Fold } from "../window-stats.ts";
import { EventTimes, LEAF, Leaf } from "./leaf.ts";

/** Blocks of one level per block of the next. */
const BRANCH = 8;
/** A segment that holds so many is full: putting it in order takes a third of a millisecond at most. */
export const MOST_IN_SEGMENT = 16_384;
/** What an event takes at most while it is held: its time in 4 bytes, its value, its value once more in order, and some room. */
export function bytesPerEvent(valueType: number): number {
  return valueType === 1 ? 22 : 14;
}
const FIRST_ROOM = 16;
/** Leaves whose order by value is kept, at 1 to 2 kB each: more only straddle an edge where times are the callers' own. */
const MOST_LEAVES = 64;

/** Events that enter or leave a window together: their extent in time, and their run, made when a query first needs it. */
interface Block {
  earliest: number;
  latest: number;
  run: Run | undefined;
}

/**
 * A stretch of events in arrival order, at most 16 384 of them. A closed one is exact in size and has one summary and
 * one sorted run, with which it answers where it lies wholly inside a window. An open or straddling one is a tree,
 *
 *   level 1  |------- 2048 -------|------- 2048 -------| ...
 *   level 0  |-256-|-256-|-256-| ...                         tail, below 256
 *
 * of which the largest blocks that are full and inside answer, and only leaves that straddle an edge, or the tail, are
 * filtered by time. Blocks are made from the raw events when a query first needs them: what left leaves no trace.
 */
export class Segment {
  values: Column;
  count = 0;
  earliestMs = Infinity;
  latestMs = -Infinity;
  readonly #most: number;
  #capacity: number;
  #times: EventTimes;
  /** Summary and order of all events, once it is closed and holds any. */
  #whole: Run | undefined;
  #levels: Block[][] = [];
  #leaves = new Map<number, Leaf>();

  /** `room`: how many events are expected. */
  constructor(valueType: number, room = 0, most = MOST_IN_SEGMENT) {
    const capacity = Math.min(most, Math.max(room, FIRST_ROOM));
    this.values = valueType === 1 ? new Float64Array(capacity) : new Float32Array(capacity);
    this.#times = new EventTimes(capacity);
    this.#most = most;
    this.#capacity = capacity;
  }

  /** How many more events it may take. */
  get room(): number {
    return this.#most - this.count;
  }

  /** When event `i` of those in arrival order happened, in ms. */
  timeAt(i: number): number {
    return this.#times.at(i);
  }

  /** False, and nothing taken in, when it is full. */
  append(ms: number, value: number): boolean {
    const at = this.count;
    if (at === this.#capacity) {
      if (at === this.#most) return false;
      this.reserve(1);
    }
    if (at === 0) this.#times.begin(ms);
    if (!this.#times.set(at, ms)) this.forget();
    this.values[at] = value;
    if (ms < this.earliestMs) this.earliestMs = ms;
    if (ms > this.latestMs) this.latestMs = ms;
    this.count = at + 1;
    return true;
  }

  /** Makes room for `count` more and returns the index of the first; the caller fills `values`, then stamps them. */
  reserve(count: number): number {
    const needed = this.count + count;
    if (needed > this.#capacity) this.#resize(Math.min(this.#most, Math.max(needed, this.#capacity * 2)));
    return this.count;
  }

  /** Takes in the next `count` values, all of one time. */
  stampAll(ms: number, count: number): void {
    if (this.count === 0) this.#times.begin(ms);
    if (!this.#times.fill(this.count, this.count + count, ms)) this.forget();
    this.#extend(ms, count);
  }

  /** Takes in the next values, their times being `times[from .. to)`. */
  stampEach(times: ArrayLike<number>, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      if (this.count === 0) this.#times.begin(times[i]);
      if (!this.#times.set(this.count, times[i])) this.forget();
      this.#extend(times[i], 1);
    }
  }

  /** No more events will come: spare room is given back, and all are summed up and put in order. */
  close(): void {
    if (this.#whole || this.count === 0) return;
    if (this.#capacity > this.count) this.#resize(this.count);
    this.#whole = Run.of(this.values.slice());
    this.forget();
  }

  get isClosed(): boolean {
    return this.#whole !== undefined;
  }

  /** The run of all events, where it is closed and all are inside. */
  wholeInside(fromMs: number, toMs: number, closed: Closed): Run | undefined {
    if (this.latestMs > toMs || !isInside(this.earliestMs, fromMs, toMs, closed)) return undefined;
    return this.#whole;
  }

  /** Adds to `fold` every event inside the window. */
  collect(fold: Fold, fromMs: number, toMs: number, closed: Closed): void {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return;
    const whole = this.wholeInside(fromMs, toMs, closed);
    if (whole) {
      this.forget();
      fold.add(whole);
      return;
    }
    // Times are whole ms: `from < t` is `from + 1 <= t`.
    const least = fromMs + (closed === "both" ? 0 : 1) - this.#times.baseMs;
    const most = toMs - this.#times.baseMs;
    let top = 0;
    for (let size = LEAF * BRANCH; size <= this.count; size *= BRANCH) top++;
    for (let i = 0; i * LEAF * BRANCH ** top < this.count; i++) this.#visit(top, i, fold, least, most);
  }

  /** Copies the values inside the window into `into` from `at` on, in arrival order; returns the next free index. */
  copyInside(into: Column, at: number, fromMs: number, toMs: number, closed: Closed): number {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return at;
    for (let i = 0; i < this.count; i++)
      if (isInside(this.timeAt(i), fromMs, toMs, closed)) into[at++] = this.values[i];
    return at;
  }

  /** Lets go of what queries have made of it; it is made again where needed. */
  forget(): void {
    if (this.#levels.length > 0) this.#levels = [];
    if (this.#leaves.size > 0) this.#leaves.clear();
  }

  #extend(ms: number, count: number): void {
    if (ms < this.earliestMs) this.earliestMs = ms;
    if (ms > this.latestMs) this.latestMs = ms;
    this.count += count;
  }

  #resize(capacity: number): void {
    this.#times = this.#times.resized(this.count, capacity);
    const { values } = this;
    this.values = values instanceof Float32Array ? new Float32Array(capacity) : new Float64Array(capacity);
    this.values.set(values.subarray(0, this.count));
    this.#capacity = capacity;
  }

  #visit(level: number, index: number, fold: Fold, least: number, most: number): void {
    const size = LEAF * BRANCH ** level;
    const start = index * size;
    if (start >= this.count) return;
    if (start + size <= this.count) {
      const block = this.#block(level, index);
      if (block.latest < least || block.earliest > most) return;
      if (block.earliest >= least && block.latest <= most) {
        block.run ??= Run.of(this.values.slice(start, start + size));
        fold.add(block.run);
        return;
      }
    }
    if (level === 0) this.#part(fold, start, Math.min(start + size, this.count), least, most);
    else for (let i = index * BRANCH; i < (index + 1) * BRANCH; i++) this.#visit(level - 1, i, fold, least, most);
  }

  /** A full block; its extent in time is that of its events, or of the blocks below it. */
  #block(level: number, index: number): Block {
    this.#levels[level] ??= [];
    const known = this.#levels[level][index];
    if (known) return known;
    const block: Block = { earliest: Infinity, latest: -Infinity, run: undefined };
    if (level === 0) {
      const { ticks } = this.#times;
      for (let i = index * LEAF; i < (index + 1) * LEAF; i++) extend(block, ticks[i], ticks[i]);
    } else
      for (let i = index * BRANCH; i < (index + 1) * BRANCH; i++) {
        const below = this.#block(level - 1, i);
        extend(block, below.earliest, below.latest);
      }
    this.#levels[level][index] = block;
    return block;
  }

  #part(fold: Fold, start: number, end: number, least: number, most: number): void {
    let leaf = this.#leaves.get(start);
    if (!leaf) {
      // Those left behind by an edge that moved on are made again should it come back.
      if (this.#leaves.size >= MOST_LEAVES) this.#leaves.clear();
      leaf = new Leaf(start, this.values);
      this.#leaves.set(start, leaf);
    }
    const run = leaf.run(this.#times.ticks, this.values, end, least, most);
    if (run) fold.add(run);
  }
}

function extend(block: Block, earliest: number, latest: number): void {
  if (earliest < block.earliest) block.earliest = earliest;
  if (latest > block.latest) block.latest = latest;
}
