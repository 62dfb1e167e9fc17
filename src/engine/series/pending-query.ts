import { deferred } from "../../base/async/deferred.ts";
import type { Closed } from "../../base/time.ts";
import type { Lookback } from "../journal/format/closed-chunks.ts";
import { constants } from "../journal/format/constants.ts";
import type { Column } from "../kernel/contract.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { type FoldedWindow, windowUntil } from "../stats/window-folds.ts";
import type { StatsQuery, WindowQuery } from "../stats/window-query.ts";
import { type Degraded, Fold, statsOf, type WindowAggregates, type WindowStats } from "../stats/window-stats.ts";
import type { KnownQuery } from "./queries.ts";

/** The events of a series at one instant. */
export interface WindowView {
  collect(fold: Pick<Fold, "add">, fromMs: number, toMs: number, closed: Closed): void;
  /** Same as `collect` into an empty fold. Caches what makes the next fold of the same span cheap. */
  fold(fromMs: number, toMs: number, closed: Closed): Fold;
  /** The aggregates of the window, if there is a quicker way than the fold of its runs. */
  stats?(window: FoldedWindow): WindowAggregates;
  /** A copy of the values inside the window, in the order of the journal. */
  valuesInside(fromMs: number, toMs: number, closed: Closed): Column;
  /** The latest time of the events; -Infinity if there are none. */
  readonly latestMs?: number;
  /** All events that were acknowledged before this time of the server are here. Undefined while the store is unreachable. */
  readonly asOfMs?: number;
  /** Why a window from `fromMs` may lack events; undefined if it lacks none. */
  degradedBy(fromMs: number): Degraded | undefined;
}

/** The window and the answer that a query asks for. */
export interface AskedQuery {
  window: WindowQuery;
  /** Queries of one kind (compared as a Map's key) are computed once per cut. */
  kind: unknown;
  /** The query if it asks for statistics only. */
  stats?: StatsQuery | undefined;
  /** The window is answered together with those of other journals: its events or its outlines are wanted. */
  isPart?: boolean;
}

/** A query that waits. It is answered at the next cut that holds every event up to batch `afterBatch`. */
export interface PendingQuery extends AskedQuery {
  afterBatch: number;
  /** Number of callers that wait for the answer. */
  callers: number;
  /** The answer, if further callers may wait for it too. */
  answer?: Promise<WindowStats>;
  /** False if the answer cannot say that it is degraded. Such a query fails while the store is unreachable. */
  reportsDegraded: boolean;
  /** Called while the view is at the cut. */
  compute(view: WindowView, fromMs: number, toMs: number): unknown;
  resolve(answer: unknown): void;
  fail(error: unknown): void;
}

/** Accepts queries and answers each of them once. */
export interface QueryQueue {
  ask(query: PendingQuery): void;
  /** The answer to an equal query that waits already, for one caller more. Undefined if there is none. */
  join(kind: unknown, afterBatch: number): Promise<WindowStats> | undefined;
}

/** How a window is asked for that is answered together with those of other journals. */
export type AskedPart = Pick<PendingQuery, "afterBatch" | "stats" | "reportsDegraded">;

type Compute<T> = (view: WindowView, fromMs: number, toMs: number) => T;

/** Exact answers, computed in this process from its copy of the journal. */
export class ExactQueries {
  readonly #queue: QueryQueue;
  readonly #nan: NanPolicy;

  constructor(queue: QueryQueue, nan: NanPolicy) {
    this.#queue = queue;
    this.#nan = nan;
  }

  /**
   * Callers of one commit share the computation of an answer, but each gets an object of its own. `failed` makes the error that
   * the caller sees. A caller costs one promise and the copy.
   */
  stats(query: KnownQuery, afterBatch = 0, failed?: (error: unknown) => never): Promise<WindowStats> {
    const waiting = query.maxAgeMs > 0 ? undefined : this.#queue.join(query.kind, afterBatch);
    return (waiting ?? this.#ask(query, afterBatch)).then(copyOf, failed);
  }

  #ask(query: KnownQuery, afterBatch: number): Promise<WindowStats> {
    const { promise: answer, resolve, reject } = deferred<WindowStats>();
    const compute = (view: WindowView, fromMs: number, toMs: number) => {
      const stats = statsOf(
        aggregatesOf(view, windowUntil(toMs, query)),
        query,
        this.#nan,
        fromMs,
        toMs,
        view.degradedBy(fromMs),
      );
      if (query.maxAgeMs > 0 && view.asOfMs !== undefined) stats.asOfMs = view.asOfMs;
      return stats;
    };
    this.#queue.ask({
      window: query,
      stats: query,
      afterBatch,
      kind: query.kind,
      callers: 1,
      answer,
      reportsDegraded: true,
      compute,
      resolve: resolve as (answer: unknown) => void,
      fail: reject,
    });
    return answer;
  }

  /** Answers any other question about a window. */
  compute<T>(
    window: WindowQuery,
    kind: unknown,
    compute: Compute<T>,
    reportsDegraded = true,
    part?: AskedPart,
  ): Promise<T> {
    const { promise, resolve, reject } = deferred<T>();
    const give = resolve as (answer: unknown) => void;
    const asked = { window, afterBatch: 0, kind, callers: 1, reportsDegraded, compute, resolve: give, fail: reject };
    this.#queue.ask(part ? { ...asked, ...part, isPart: true } : asked);
    return promise;
  }
}

/** For one of several callers that share an answer. */
export function copyOf(stats: WindowStats): WindowStats {
  return { ...stats, percentiles: { ...stats.percentiles } };
}

/** The aggregates of a window, by the quickest way of the view. */
export function aggregatesOf(view: WindowView, window: FoldedWindow): WindowAggregates {
  return view.stats?.(window) ?? foldOf(view, window);
}

/** Uses the view's cache for a window that moves with time. A window with a fixed end is computed without it. */
export function foldOf(view: WindowView, { fromMs, toMs, closed, endsNow }: FoldedWindow): Fold {
  if (endsNow) return view.fold(fromMs, toMs, closed);
  const fold = new Fold();
  view.collect(fold, fromMs, toMs, closed);
  return fold;
}

/** How far back the queries look into the journal. */
export function lookbackOf(queries: readonly PendingQuery[]): Lookback {
  let spanMs = Number.NEGATIVE_INFINITY;
  let fromMs = Number.POSITIVE_INFINITY;
  for (const { window } of queries)
    if (window.atMs === undefined) spanMs = Math.max(spanMs, window.spanMs);
    else fromMs = Math.min(fromMs, window.atMs - window.spanMs);
  return { spanMs, fromMs, maxBytes: constants.firstReadBytes };
}

/** Answers all queries from one view at one instant. Never throws: errors go to the callers. */
export function answerAll(queries: readonly PendingQuery[], view: WindowView, nowMs: number): void {
  const answers = new Map<unknown, unknown>();
  for (const query of queries) {
    const toMs = query.window.atMs ?? nowMs;
    try {
      if (!answers.has(query.kind)) answers.set(query.kind, query.compute(view, toMs - query.window.spanMs, toMs));
      query.resolve(answers.get(query.kind));
    } catch (error) {
      query.fail(error);
    }
  }
}
