import type { Positions } from "./positions.ts";
import { SIZE, WindowMoments } from "./window-moments.ts";

/** Events in a block. Fewer would take more memory; more would be added up one by one at the edges of each window. */
const BLOCK = 128;
/** Number of nodes that make a node of the next level. */
const BRANCH = 8;
/** The nodes of a level, from number `first` to before `end`. The oldest leave first. */
class Level {
  first = 0;
  end = 0;
  numbers = new Float64Array(64 * SIZE);

  /** Offset in `numbers` of a new node. */
  push(): number {
    const used = (this.end - this.first) * SIZE;
    if (used + SIZE > this.numbers.length) {
      const larger = new Float64Array(2 * used + SIZE);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.end++;
    return used;
  }

  offsetOf(node: number): number {
    return (node - this.first) * SIZE;
  }

  /** Frees the nodes before `node` once they are at least half of all. */
  dropBefore(node: number): void {
    if (2 * (node - this.first) < this.end - this.first) return;
    this.numbers = this.numbers.slice(this.offsetOf(node), this.offsetOf(this.end) + SIZE);
    this.first = node;
  }
}

/**
 * The moments of f32 values in a tree of blocks of 128, which never change. A window is the sum of O(log n) nodes and of
 * the values in the two blocks at its edges, so an event outside has no effect on its sum.
 */
export class MomentTree {
  readonly #levels: Level[] = [new Level()];
  readonly #parents = new WindowMoments();
  readonly #window = new WindowMoments();

  /** The number after the last event that is in a block. */
  get end(): number {
    return this.#levels[0]!.end * BLOCK;
  }

  /** Adds the full blocks of the events before number `end`. */
  extend(positions: Positions, end: number): void {
    for (let from = this.end; from + BLOCK <= end; from += BLOCK) {
      this.#parents.clear();
      positions.visit(from, from + BLOCK, this.#parents);
      this.#push(0);
    }
  }

  dropBefore(position: number): void {
    let size = BLOCK;
    for (const level of this.#levels) {
      level.dropBefore(Math.min(level.end, Math.floor(position / size)));
      size *= BRANCH;
    }
  }

  /** The moments of the events from number `from` to before `to`. The next call overwrites them. */
  collect(positions: Positions, from: number, to: number): WindowMoments {
    const moments = this.#window;
    moments.clear();
    this.#collect(positions, from, to, moments);
    moments.sum();
    return moments;
  }

  #collect(positions: Positions, from: number, to: number, moments: WindowMoments): void {
    let low = Math.ceil(from / BLOCK);
    let high = Math.min(Math.floor(to / BLOCK), this.#levels[0]!.end);
    if (low >= high) {
      positions.visit(from, to, moments);
      return;
    }
    positions.visit(from, low * BLOCK, moments);
    positions.visit(high * BLOCK, to, moments);
    for (let l = 0; l < this.#levels.length; l++) {
      const level = this.#levels[l]!;
      const isTop = l === this.#levels.length - 1;
      for (; low < high && (isTop || low % BRANCH !== 0); low++) moments.addNode(level.numbers, level.offsetOf(low));
      for (; low < high && high % BRANCH !== 0; high--) moments.addNode(level.numbers, level.offsetOf(high - 1));
      if (low === high) return;
      low /= BRANCH;
      high /= BRANCH;
    }
  }

  /** Adds the node in `#parents`, and the nodes above it that it completes. */
  #push(l: number): void {
    this.#levels[l] ??= new Level();
    const level = this.#levels[l];
    const at = level.push();
    this.#parents.sum();
    this.#parents.store(level.numbers, at);
    if (level.end % BRANCH !== 0) return;
    this.#parents.clear();
    // If some of its nodes are dropped already, the parent is never read. It only keeps its place in the level.
    for (let node = Math.max(level.first, level.end - BRANCH); node < level.end; node++)
      this.#parents.addNode(level.numbers, level.offsetOf(node));
    this.#push(l + 1);
  }
}
