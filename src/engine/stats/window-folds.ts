import type { Segment } from "./segments/segment.ts";
import { WindowCache } from "./segments/segments.ts";
import type { IndexedWindow, WindowIndex } from "./wavelet/window-index.ts";
import type { WindowQuery } from "./window-query.ts";
import { Fold, type WindowAggregates } from "./window-stats.ts";

/** Segments in the order of arrival. The version changes with the list and when a segment is closed. */
export interface SegmentList {
  readonly list: readonly Segment[];
  readonly version: number;
}

/** A window, and whether it ends now. */
export interface FoldedWindow extends IndexedWindow {
  readonly endsNow: boolean;
}

/** The window of a query that ends at `toMs`. */
export function windowUntil(toMs: number, { spanMs, atMs, closed }: WindowQuery): FoldedWindow {
  return { fromMs: toMs - spanMs, toMs, closed, endsNow: atMs === undefined };
}

/**
 * Folds the windows of one list of segments. A window that ends now and whose span was asked for before is cached. Others
 * are answered by an index, once there is one.
 */
export class WindowFolds {
  readonly #cache = new WindowCache();
  readonly #index: WindowIndex | undefined;

  constructor(index: WindowIndex | undefined) {
    this.#index = index;
  }

  /** `roomBytes`: memory that an index may use. */
  stats(events: SegmentList, window: FoldedWindow, roomBytes: number): WindowAggregates {
    const { fromMs, toMs, closed, endsNow } = window;
    if (endsNow && this.#cache.has(toMs - fromMs, closed)) return this.runs(events, window);
    const indexed = this.#index?.fold(events.list, events.version, window, roomBytes);
    return indexed ?? this.runs(events, window);
  }

  /** The fold of the window's sorted runs. */
  runs({ list, version }: SegmentList, { fromMs, toMs, closed, endsNow }: FoldedWindow): Fold {
    if (endsNow) return this.#cache.fold(list, version, fromMs, toMs, closed);
    const fold = new Fold();
    for (const segment of list) segment.collect(fold, fromMs, toMs, closed);
    return fold;
  }

  /** Memory of the index. */
  get sizeBytes(): number {
    return this.#index?.sizeBytes ?? 0;
  }

  /** Drops everything. */
  clear(): void {
    this.#cache.clear();
    this.#index?.clear();
  }

  /** Call it after segments were dropped. */
  release(): void {
    this.#cache.clear();
    this.#index?.release();
  }
}
