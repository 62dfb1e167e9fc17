import type { Column } from "../../kernel/contract.ts";
import { ColumnRun, type Run } from "../runs/run.ts";
import type { Fold } from "../window-stats.ts";
import { EVENTS_PER_LEAF, Leaf } from "./leaf.ts";

/** Number of blocks that make a block of the next level. */
const BRANCH = 8;
/** Maximum number of leaves in memory, 1 to 2 kB each. Only events with times of their own can need more. */
const MAX_LEAVES = 64;

/** Consecutive events: their earliest and latest time, and their run, which is computed when a query first needs it. */
interface Block {
  earliest: number;
  latest: number;
  run: Run | undefined;
}

/** The first `count` events of a segment. The columns may be replaced by longer ones with the same events. */
export interface TreeEvents {
  readonly values: Column;
  readonly ticks: Uint32Array | Float64Array;
  readonly count: number;
}

/**
 * The events of an open segment, or of one at a window's edge, in blocks:
 *
 *   level 1  |------- 2048 -------|------- 2048 -------| ...
 *   level 0  |-256-|-256-|-256-| ...                         tail, below 256
 *
 * The largest full blocks inside the window answer with their runs. Only the leaves at an edge, and the tail, are
 * filtered by time. Blocks are computed from the raw events when a query first needs them, so an event that has left the
 * window has no effect on later answers.
 */
export class BlockTree {
  #levels: Block[][] = [];
  #leaves = new Map<number, Leaf>();

  /** Drops the blocks and leaves that queries have computed. A query that needs them computes them again. */
  clear(): void {
    if (this.#levels.length > 0) this.#levels = [];
    if (this.#leaves.size > 0) this.#leaves.clear();
  }

  get isEmpty(): boolean {
    return this.#levels.length === 0 && this.#leaves.size === 0;
  }

  /** Adds the events whose ticks are from `first` to `last`, both included. */
  collect(events: TreeEvents, fold: Pick<Fold, "add">, first: number, last: number): void {
    let top = 0;
    for (let size = EVENTS_PER_LEAF * BRANCH; size <= events.count; size *= BRANCH) top++;
    for (let i = 0; i * EVENTS_PER_LEAF * BRANCH ** top < events.count; i++)
      this.#visit(events, top, i, fold, first, last);
  }

  #visit(events: TreeEvents, level: number, index: number, fold: Pick<Fold, "add">, first: number, last: number): void {
    const size = EVENTS_PER_LEAF * BRANCH ** level;
    const start = index * size;
    if (start >= events.count) return;
    if (start + size <= events.count) {
      const block = this.#block(events, level, index);
      if (block.latest < first || block.earliest > last) return;
      if (block.earliest >= first && block.latest <= last) {
        block.run ??= ColumnRun.of(events.values.slice(start, start + size));
        fold.add(block.run);
        return;
      }
    }
    if (level === 0) this.#addLeaf(events, fold, start, first, last);
    else
      for (let i = index * BRANCH; i < (index + 1) * BRANCH; i++) this.#visit(events, level - 1, i, fold, first, last);
  }

  /** A full block. Its earliest and latest time are those of its events, or of the blocks of the level below. */
  #block(events: TreeEvents, level: number, index: number): Block {
    this.#levels[level] ??= [];
    const blocks = this.#levels[level];
    const known = blocks[index];
    if (known) return known;
    const block: Block = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY, run: undefined };
    if (level === 0) {
      const { ticks } = events;
      for (let i = index * EVENTS_PER_LEAF; i < (index + 1) * EVENTS_PER_LEAF; i++) extend(block, ticks[i]!, ticks[i]!);
    } else
      for (let i = index * BRANCH; i < (index + 1) * BRANCH; i++) {
        const below = this.#block(events, level - 1, i);
        extend(block, below.earliest, below.latest);
      }
    blocks[index] = block;
    return block;
  }

  #addLeaf(events: TreeEvents, fold: Pick<Fold, "add">, start: number, first: number, last: number): void {
    const { ticks, values, count } = events;
    let leaf = this.#leaves.get(start);
    if (!leaf) {
      // The edges have left most of these leaves. If an edge returns, its leaf is computed again.
      if (this.#leaves.size >= MAX_LEAVES) this.#leaves.clear();
      leaf = new Leaf(start);
      this.#leaves.set(start, leaf);
    }
    const run = leaf.run(ticks, values, Math.min(start + EVENTS_PER_LEAF, count), first, last);
    if (run) fold.add(run);
  }
}

function extend(block: Block, earliest: number, latest: number): void {
  if (earliest < block.earliest) block.earliest = earliest;
  if (latest > block.latest) block.latest = latest;
}
