import { deferred } from "../../async/deferred.ts";
import { corruptError, OrielError } from "../../errors.ts";
import { degradedOf, seriesNowMs } from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { ServerAnswer } from "../../journal/steps/server-answer.ts";
import { SERVER_STATUS, serverStats, serverStatsFar } from "../../journal/steps/server-stats.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import { statsOf, type WindowStats } from "../../stats/window-stats.ts";
import type { Store } from "../../store/contract.ts";
import type { QueryStrategy } from "../pending-query.ts";
import { isUnreachable } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { LossTracker, OutlineStats } from "./outline-stats.ts";
import { ServerFold } from "./server-fold.ts";

/** A query is sent again if the open chunk was closed before it arrived, because it then needs other chunks. */
const MAX_TRIES = 8;

/** A caller that waits for statistics from the store. */
export interface ServerQuery {
  query: StatsQuery;
  resolve(stats: WindowStats): void;
  fail(error: unknown): void;
}

/** Accepts queries that the store answers after every event recorded before them. */
export interface ServerQueue {
  askServer(query: ServerQuery): void;
}

/** The window has events in sealed chunks, and their outlines do not suffice. */
class UnreadableWindow extends Error {}

/**
 * Exact answers, computed inside the store. If chunks of the window are sealed, this process computes them from outlines, and in
 * rare cases from its copy of the journal.
 */
export class ServerQueries implements QueryStrategy {
  readonly #queue: ServerQueue;
  readonly #exact: QueryStrategy;

  constructor(queue: ServerQueue, exact: QueryStrategy) {
    this.#queue = queue;
    this.#exact = exact;
  }

  stats(query: StatsQuery): Promise<WindowStats> {
    const { promise, resolve, reject } = deferred<WindowStats>();
    const fail = (error: unknown) => {
      if (error instanceof UnreadableWindow) this.#exact.stats(query).then(resolve, reject);
      else reject(error);
    };
    this.#queue.askServer({ query, resolve, fail });
    return promise;
  }
}

/** Requests statistics that the store computes. */
export class ServerStats {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #losses: LossTracker;
  readonly #outlines: OutlineStats;
  /** Windows that go back this far, in ms, turned out to have sealed chunks, or to be above the bounds of the store. */
  #sealedMs: number;
  #newest: number | undefined;
  /** Windows that go back this far, in ms, turned out to need many chunks. */
  #farMs = Number.POSITIVE_INFINITY;
  #nowMs = 0;

  constructor(store: Store, key: string, settings: SeriesSettings, losses: LossTracker, outlines: OutlineStats) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#losses = losses;
    this.#outlines = outlines;
    this.#sealedMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Answers the queries one kind after the other; equal queries share a request. Never rejects: errors go to the callers.
   * If the store fails, all remaining queries fail and the store's error is returned.
   */
  async answer(queries: readonly ServerQuery[]): Promise<unknown> {
    // Maps each kind to one query of that kind.
    const kinds = new Map(queries.map(({ query }) => [query.kind, query]));
    for (const [kind, first] of kinds) {
      const alike = queries.filter(({ query }) => query.kind === kind);
      try {
        const stats = await this.#stats(first);
        for (const { resolve } of alike) resolve({ ...stats, percentiles: { ...stats.percentiles } });
      } catch (thrown) {
        const error = corruptAt(this.#key, thrown);
        if (isUnreachable(error)) {
          // Has no effect on queries that are already answered.
          for (const { fail } of queries) fail(error);
          return error;
        }
        for (const { fail } of alike) fail(error);
      }
    }
    return undefined;
  }

  /** One round trip. The first query, and one after a chunk was closed, takes another. */
  async #stats(query: StatsQuery): Promise<WindowStats> {
    const percentiles = [...new Set(query.percentiles)].sort((a, b) => a - b);
    if (this.#reachMs(query) >= this.#sealedMs) return this.#fromOutlines(query);
    const { rollbacks } = this.#losses;
    const before = rollbacks.seen;
    const answer = await this.#ask(query, percentiles).catch((error) => this.#beyondBounds(query, error));
    if ("percentiles" in answer) return answer;
    if (answer.status === SERVER_STATUS.sealed) {
      this.#sealedMs = Math.min(this.#sealedMs, this.#reachMs(query));
      return this.#fromOutlines(query);
    }
    rollbacks.see(answer, before);
    const { header, nowMs, moments, ordered } = answer;
    const toMs = query.atMs ?? (header ? seriesNowMs(header, nowMs) : nowMs);
    const fromMs = toMs - query.spanMs;
    const degradedBy = header && degradedOf({ ...answer, header }, fromMs, this.#losses.missingReason(fromMs));
    const fold = new ServerFold(moments, percentiles, ordered);
    return statsOf(fold, query, this.#settings.nan, fromMs, toMs, degradedBy);
  }

  /** Above the bounds of the store, a window is answered from outlines and raw chunks. */
  #beyondBounds(query: StatsQuery, error: unknown): Promise<WindowStats> {
    if (!(error instanceof OrielError) || error.code !== "TOO_LARGE") throw error;
    this.#sealedMs = Math.min(this.#sealedMs, this.#reachMs(query));
    return this.#fromOutlines(query);
  }

  /** Two round trips, seldom three. */
  async #fromOutlines(query: StatsQuery): Promise<WindowStats> {
    const stats = await this.#outlines.stats(query);
    if (!stats) throw new UnreadableWindow();
    return stats;
  }

  /** How far the window goes back from the present, ms. */
  #reachMs({ spanMs, atMs }: StatsQuery): number {
    return spanMs + (atMs === undefined ? 0 : Math.max(0, this.#nowMs - atMs));
  }

  async #ask(query: StatsQuery, percentiles: readonly number[]): Promise<ServerAnswer> {
    const { valueType, clock } = this.#settings;
    const { closed, spanMs, atMs } = query;
    const reachMs = this.#reachMs(query);
    let wasUnlinked = false;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const input = { valueType, clock, closed, spanMs, atMs, newest: this.#newest, percentiles };
      const operation = reachMs < this.#farMs ? serverStats : serverStatsFar;
      const answer = await this.#store.run(operation, this.#key, input);
      // Names no key that cannot exist: in a slot that migrates to another node it would delay the call.
      const newest = answer.header?.birthBefore ? answer.header.number - 1 : undefined;
      if (answer.status === SERVER_STATUS.otherKeys && newest === input.newest) this.#farMs = reachMs;
      this.#newest = newest;
      this.#nowMs = answer.nowMs;
      switch (answer.status) {
        case SERVER_STATUS.done:
        case SERVER_STATUS.missing:
        case SERVER_STATUS.sealed:
          return answer;
        case SERVER_STATUS.foreign:
          throw corruptError(this.#key, `it is no journal of format ${constants.format}`);
        case SERVER_STATUS.mismatch:
          throw new OrielError(
            "MISMATCH",
            "the series is stored with another value type or clock than it was opened with",
          );
        case SERVER_STATUS.unlinked:
          // The query may have met a deletion or a failover halfway. Real damage is still there at the next try.
          if (wasUnlinked) throw corruptError(this.#key, "its chunks do not fit together");
          wasUnlinked = true;
      }
    }
    throw new OrielError("LOST", "the series kept changing while it was read", { transient: true });
  }
}
