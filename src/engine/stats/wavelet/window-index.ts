import type { Closed } from "../../../base/time.ts";
import { activeKernel } from "../../kernel/choose.ts";
import type { Segment } from "../segments/segment.ts";
import { IndexedFold } from "./indexed-fold.ts";
import { MomentTree } from "./moment-tree.ts";
import { MAX_LOOSE, Pieces } from "./pieces.ts";
import { Positions } from "./positions.ts";

/** Bounds of an index. */
export interface IndexLimits {
  /** Windows of a series with fewer events are answered without an index. */
  minEvents: number;
  /** Number of queries that are answered without an index before one is built. */
  patience: number;
  /** While the index is incomplete, a query spends one step for this many events of the series. */
  eventsPerStep: number;
}

const INDEX_LIMITS: IndexLimits = { minEvents: 16_384, patience: 4, eventsPerStep: 8 };

/** Steps that an event costs until it is in a piece: 32 levels, and the keys. */
const STEPS_TO_COVER = 34;
/** Steps for each event and query while the index is complete. Joining pieces takes at most 34 steps seven times. */
const STEPS_PER_EVENT = 400;
const STEPS_PER_QUERY = 4096;
/** Up to this many steps are done at once, to complete the index before an answer. */
const MAX_STEPS_AHEAD = 2 ** 18;
/** Memory of an event in an index, and while its pieces are joined. */
const BYTES_PER_EVENT = 9;

/** A window that is asked for. */
export interface IndexedWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly closed: Closed;
  /** It is one of many that are asked together, and spends no step on an incomplete index. */
  readonly spares?: boolean;
}

interface Parts {
  readonly pieces: Pieces;
  readonly tree: MomentTree;
  /** Number after the last event of the last query. */
  end: number;
  /** Steps that were saved up for joining pieces. */
  steps: number;
}

/**
 * An index for windows that were not asked for before, over the events of one series. It is built step by step, by the
 * queries that would use it. Recording costs nothing.
 * Conditions: f32 values, no time below the time before it, and no more events between two queries than a query may add.
 */
export class WindowIndex {
  /** About the memory in use. */
  sizeBytes = 0;
  readonly #limits: IndexLimits;
  #positions = new Positions();
  #parts: Parts | undefined;
  #asked = 0;
  /** At the last query. */
  #isComplete = false;
  #wasUsed = false;
  #hasFailed = false;

  constructor(limits: IndexLimits = INDEX_LIMITS) {
    this.#limits = limits;
  }

  /** Drops the index. */
  clear(): void {
    this.#reset();
    this.#positions = new Positions();
  }

  /** Drops the index if it was not used since the last call. */
  release(): void {
    if (!this.#wasUsed) this.#reset();
    this.#wasUsed = false;
  }

  /**
   * The aggregates of the events inside; undefined if the index cannot answer, or is not complete yet. `version` must
   * change if the list does or a segment of it is closed. `roomBytes`: memory that the index may use.
   */
  fold(
    list: readonly Segment[],
    version: number,
    { fromMs, toMs, closed, spares }: IndexedWindow,
    roomBytes: number,
  ): IndexedFold | undefined {
    if (spares && !this.#isComplete) return undefined;
    if (this.#hasFailed || list.length === 0 || !(list[0]!.values instanceof Float32Array)) return undefined;
    if (!this.#parts) this.#positions = new Positions();
    const positions = this.#positions;
    if (!positions.follow(list, version) && this.#parts) this.#reset();
    const count = positions.end - positions.first;
    if (count < this.#limits.minEvents || BYTES_PER_EVENT * count > roomBytes || !positions.areOrdered) {
      this.#reset();
      return undefined;
    }
    this.#wasUsed = true;
    if (++this.#asked <= this.#limits.patience) return undefined;
    const parts = this.#grown(count);
    if (!parts) return undefined;
    // Times are whole ms.
    const from = positions.at(fromMs + (closed === "both" ? 0 : 1));
    return new IndexedFold(positions, parts.pieces, parts.tree, from, Math.max(from, positions.at(toMs + 1)));
  }

  /** The parts with all events; undefined if some are still missing. Without memory for an index, there is none from now on. */
  #grown(count: number): Parts | undefined {
    try {
      this.#parts ??= this.#begin();
      this.#isComplete = this.#extend(this.#parts, count);
      this.sizeBytes = this.#parts?.pieces.sizeBytes ?? 0;
      return this.#isComplete ? this.#parts : undefined;
    } catch {
      this.#reset();
      this.#hasFailed = true;
      return undefined;
    }
  }

  #begin(): Parts {
    const pieces = new Pieces(activeKernel().wavelet());
    return { pieces, tree: new MomentTree(), end: this.#positions.end, steps: 0 };
  }

  /** Adds new events. Returns false if the index is still incomplete. */
  #extend(parts: Parts, count: number): boolean {
    const positions = this.#positions;
    const { first, end } = positions;
    const { pieces, tree } = parts;
    const added = end - parts.end;
    parts.end = end;
    const allowed = Math.max(MAX_STEPS_AHEAD, count / this.#limits.eventsPerStep);
    // Events left before they were in a piece, or are added faster than queries work.
    if (pieces.end < first || STEPS_TO_COVER * added > allowed) {
      this.#reset();
      return false;
    }
    pieces.dropBefore(first);
    tree.dropBefore(first);
    pieces.cover(positions, allowed);
    tree.extend(positions, pieces.end);
    if (end - pieces.end > MAX_LOOSE) return false;
    tree.extend(positions, end);
    const steps = Math.min(parts.steps + STEPS_PER_QUERY + STEPS_PER_EVENT * added, MAX_STEPS_AHEAD);
    parts.steps = pieces.join(positions, steps);
    return true;
  }

  #reset(): void {
    this.#parts = undefined;
    this.#isComplete = false;
    this.sizeBytes = 0;
    this.#asked = 0;
  }
}
