import type { Beside } from "../async/beside.ts";
import { argumentError } from "../errors.ts";
import { Fold } from "../stats/segments/fold.ts";
import type { StatsOptions, StatsQuery, WindowQuery } from "../stats/window-query.ts";
import { statsOf, type WindowStats } from "../stats/window-stats.ts";
import { abortable } from "./abortable.ts";
import { approximateQuery } from "./approximate-query.ts";
import { Queries } from "./queries.ts";
import type { WindowView } from "./question.ts";
import type { SeriesSettings } from "./series-options.ts";
import { type SeriesStatsOptions, serverQuery } from "./server-query.ts";
import type { Journal } from "./session/journal.ts";
import { waiting } from "./waiting.ts";

type Compute<T> = (view: WindowView, fromMs: number, toMs: number) => T;

/** Puts what callers ask to a journal. */
export class Asker {
  readonly #journals: Beside<Journal>;
  readonly #settings: SeriesSettings;
  readonly #queries: Queries;
  /** The answer last given: whoever shares it is given a copy. */
  #given: WindowStats | undefined;

  constructor(journals: Beside<Journal>, settings: SeriesSettings) {
    this.#journals = journals;
    this.#settings = settings;
    this.#queries = new Queries(settings.retentionMs, "at");
  }

  /** Callers of one commit who ask the same share the computation, not the object. */
  stats(journal: Journal, query: StatsQuery, afterBatch: number): Promise<WindowStats> {
    const { promise, resolve, reject } = waiting<WindowStats>();
    const compute = (view: WindowView, fromMs: number, toMs: number) => {
      const fold = foldOf(view, query, fromMs, toMs);
      return statsOf(fold, query, this.#settings.nan, fromMs, toMs, view.degradedBy(fromMs));
    };
    const give = (answer: unknown) => {
      const stats = answer as WindowStats;
      if (stats === this.#given) return resolve({ ...stats, percentiles: { ...stats.percentiles } });
      this.#given = stats;
      resolve(stats);
    };
    const { kind } = query;
    journal.ask({ window: query, afterBatch, kind, tellsDegraded: true, compute, resolve: give, fail: reject });
    return promise;
  }

  here(options: StatsOptions): Promise<WindowStats> {
    const query = this.#queries.of(options);
    const journal = this.#journals.free;
    journal.checkAskable();
    return abortable(this.stats(journal, query, 0), options.signal);
  }

  where({ where, ...options }: SeriesStatsOptions): Promise<WindowStats> {
    if (where === "client") return this.here(options);
    if (where !== "server") throw argumentError("where", where, '"client" or "server"');
    const query = serverQuery(options, this.#settings.retentionMs);
    const journal = this.#journals.free;
    journal.checkAskable();
    const { promise, resolve, reject } = waiting<WindowStats>();
    journal.askServer({ query, resolve, fail: reject });
    return abortable(promise, options.signal);
  }

  async approximately(options: SeriesStatsOptions): Promise<WindowStats> {
    const query = approximateQuery(options, this.#settings.retentionMs);
    const journal = this.#journals.free;
    journal.checkAskable();
    return journal.summaries.stats(query, () => this.stats(journal, query, 0));
  }

  ask<T>(window: WindowQuery, kind: unknown, compute: Compute<T>, tellsDegraded = true): Promise<T> {
    const { promise, resolve, reject } = waiting<T>();
    const journal = this.#journals.free;
    journal.checkAskable();
    journal.ask({
      window,
      afterBatch: 0,
      kind,
      tellsDegraded,
      compute,
      resolve: resolve as (answer: unknown) => void,
      fail: reject,
    });
    return promise;
  }
}

/** A window that moves on with time is remembered; one that a caller fixed is not. */
export function foldOf(view: WindowView, query: WindowQuery, fromMs: number, toMs: number): Fold {
  if (query.atMs === undefined) return view.fold(fromMs, toMs, query.closed);
  const fold = new Fold();
  view.collect(fold, fromMs, toMs, query.closed);
  return fold;
}
