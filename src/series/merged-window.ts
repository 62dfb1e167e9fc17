import type { NanPolicy } from "../kernel/nan.ts";
import type { StatsQuery } from "../stats/window-query.ts";
import { type Degraded, Fold, statsOf, type WindowStats } from "../stats/window-stats.ts";
import type { WindowView } from "./pending-query.ts";

/** The windows of several series, folded into one. Its edges are those of the window that ends last. */
export class MergedWindow {
  readonly #query: StatsQuery;
  readonly #fold = new Fold();
  #fromMs = Number.NEGATIVE_INFINITY;
  #toMs = Number.NEGATIVE_INFINITY;
  #degradedBy: Degraded | undefined;

  constructor(query: StatsQuery) {
    this.#query = query;
  }

  add(view: WindowView, fromMs: number, toMs: number): void {
    view.collect(this.#fold, fromMs, toMs, this.#query.closed);
    this.#degradedBy ??= view.degradedBy(fromMs);
    if (toMs <= this.#toMs) return;
    this.#fromMs = fromMs;
    this.#toMs = toMs;
  }

  stats(nan: NanPolicy): WindowStats {
    return statsOf(this.#fold, this.#query, nan, this.#fromMs, this.#toMs, this.#degradedBy);
  }
}
