import type { Column } from "../kernel/contract.ts";
import { type Closed, isInside } from "../time.ts";
import { Block } from "./block.ts";
import type { Fold } from "./fold.ts";
import { Leaf } from "./leaf.ts";

/** Events per block of the lowest level, and blocks of one level per block of the next. */
const LEAF = 512;
const BRANCH = 16;
/** Leaves whose order by value is kept, at 1 kB each: more only straddle an edge where times are the callers' own. */
const MOST_LEAVES = 64;

/**
 * A stretch of events in arrival order. A closed one that lies wholly inside a window is one block: one summary and one
 * sorted run. An open or straddling one is a tree of blocks,
 *
 *   level 1  |--------------- 8192 ---------------|------- 8192 -------| ...
 *   level 0  |-512-|-512-|-512-| ...                                     tail, below 512
 *
 * of which the largest that are full and inside answer, and only leaves that straddle an edge are filtered by time.
 * Blocks are made from the raw events when a query first needs them, so that what left leaves no trace.
 */
export class Segment {
  times = new Float64Array(LEAF);
  values: Column;
  count = 0;
  earliestMs = Infinity;
  latestMs = -Infinity;
  #closed = false;
  #levels: Block[][] = [];
  #leaves = new Map<number, Leaf>();
  #whole: Block | undefined;

  constructor(valueType: number) {
    this.values = valueType === 1 ? new Float64Array(LEAF) : new Float32Array(LEAF);
  }

  /** Makes room for `count` events and returns the index of the first; the caller fills times and values, then calls `extend`. */
  reserve(count: number): number {
    const needed = this.count + count;
    if (needed > this.values.length) {
      const capacity = Math.max(needed, this.values.length * 2);
      this.times = enlarged(this.times, capacity);
      this.values = enlarged(this.values, capacity);
    }
    return this.count;
  }

  /** Counts the events filled in since `reserve`. */
  extend(count: number): void {
    for (let i = this.count; i < this.count + count; i++) {
      const t = this.times[i];
      if (t < this.earliestMs) this.earliestMs = t;
      if (t > this.latestMs) this.latestMs = t;
    }
    this.count += count;
  }

  /** No more events will come: spare room is given back. */
  close(): void {
    this.#closed = true;
    this.times = this.times.slice(0, this.count);
    this.values = this.values.slice(0, this.count);
  }

  /** Adds to `fold` every event inside the window. */
  collect(fold: Fold, fromMs: number, toMs: number, closed: Closed): void {
    if (this.count === 0 || this.latestMs < fromMs || this.earliestMs > toMs) return;
    if (this.#closed && isInside(this.earliestMs, fromMs, toMs, closed) && this.latestMs <= toMs) {
      this.#whole ??= new Block(this.earliestMs, this.latestMs);
      this.#levels = [];
      this.#leaves.clear();
      fold.add(this.#whole.run(this.values, 0, this.count));
      return;
    }
    let top = 0;
    for (let size = LEAF * BRANCH; size <= this.count; size *= BRANCH) top++;
    for (let i = 0; i * LEAF * BRANCH ** top < this.count; i++) this.#visit(top, i, fold, fromMs, toMs, closed);
  }

  /** Copies the values inside the window into `into` from `at` on, in arrival order; returns the next free index. */
  copyInside(into: Column, at: number, fromMs: number, toMs: number, closed: Closed): number {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return at;
    for (let i = 0; i < this.count; i++) if (isInside(this.times[i], fromMs, toMs, closed)) into[at++] = this.values[i];
    return at;
  }

  #visit(level: number, index: number, fold: Fold, fromMs: number, toMs: number, closed: Closed): void {
    const size = LEAF * BRANCH ** level;
    const start = index * size;
    if (start >= this.count) return;
    if (start + size <= this.count) {
      const block = this.#block(level, index);
      if (block.latestMs < fromMs || block.earliestMs > toMs) return;
      if (isInside(block.earliestMs, fromMs, toMs, closed) && block.latestMs <= toMs) {
        fold.add(block.run(this.values, start, start + size));
        return;
      }
    }
    if (level === 0) this.#part(fold, start, Math.min(start + size, this.count), fromMs, toMs, closed);
    else
      for (let child = 0; child < BRANCH; child++)
        this.#visit(level - 1, index * BRANCH + child, fold, fromMs, toMs, closed);
  }

  /** A full block; its extent in time is that of its events, or of the blocks below it. */
  #block(level: number, index: number): Block {
    this.#levels[level] ??= [];
    const known = this.#levels[level][index];
    if (known) return known;
    let earliestMs = Infinity;
    let latestMs = -Infinity;
    if (level === 0)
      for (let i = index * LEAF; i < (index + 1) * LEAF; i++) {
        earliestMs = Math.min(earliestMs, this.times[i]);
        latestMs = Math.max(latestMs, this.times[i]);
      }
    else
      for (let child = 0; child < BRANCH; child++) {
        const below = this.#block(level - 1, index * BRANCH + child);
        earliestMs = Math.min(earliestMs, below.earliestMs);
        latestMs = Math.max(latestMs, below.latestMs);
      }
    const block = new Block(earliestMs, latestMs);
    this.#levels[level][index] = block;
    return block;
  }

  #part(fold: Fold, start: number, end: number, fromMs: number, toMs: number, closed: Closed): void {
    let leaf = this.#leaves.get(start);
    if (!leaf) {
      // Those left behind by an edge that moved on are made again should it come back.
      if (this.#leaves.size >= MOST_LEAVES) this.#leaves.clear();
      leaf = new Leaf(start);
      this.#leaves.set(start, leaf);
    }
    const run = leaf.run(this.times, this.values, end, fromMs, toMs, closed);
    if (run) fold.add(run);
  }
}

function enlarged<T extends Column>(column: T, capacity: number): T {
  const larger = new (column.constructor as new (length: number) => T)(capacity);
  larger.set(column);
  return larger;
}
