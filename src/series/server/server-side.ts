import { corruptError, OrielError } from "../../errors.ts";
import { degradedOf, seriesNowMs } from "../../journal/format/coverage.ts";
import { law } from "../../journal/format/law.ts";
import type { Rollbacks } from "../../journal/replica/rollbacks.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { ServerAnswer } from "../../journal/steps/server-answer.ts";
import { SERVER_STATUS, serverStats, serverStatsFar } from "../../journal/steps/server-stats.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import { type Degraded, statsOf, type WindowStats } from "../../stats/window-stats.ts";
import type { Store } from "../../store/contract.ts";
import { isStoreFailure } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import { ServerFold } from "./server-fold.ts";

/** How often other chunks may turn out to be wanted: each time the open one was closed meanwhile. */
const MOST_TRIES = 8;

/** A caller who waits for statistics. */
export interface ServerQuestion {
  query: StatsQuery;
  resolve(stats: WindowStats): void;
  fail(error: unknown): void;
}

/** What remembers losses. */
interface Witness {
  readonly rollbacks: Rollbacks;
  lacks(fromMs: number): Degraded | undefined;
}

/** Asks for statistics that are computed inside the store; keeps no events. */
export class ServerSide {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #witness: Witness;
  #newest: number | undefined;
  /** Windows that reach back so far, ms, were found to need many chunks. */
  #farMs = Number.POSITIVE_INFINITY;
  #nowMs = 0;

  constructor(store: Store, key: string, settings: SeriesSettings, witness: Witness) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#witness = witness;
  }

  /**
   * One after the other, those who ask the same at once; never throws, whoever waits is told. Where the store fails, it
   * fails for all of them: its error.
   */
  async answer(questions: readonly ServerQuestion[]): Promise<unknown> {
    for (const kind of new Set(questions.map(({ query }) => query.kind))) {
      const alike = questions.filter(({ query }) => query.kind === kind);
      try {
        const stats = await this.#stats(alike[0].query);
        for (const { resolve } of alike) resolve({ ...stats, percentiles: { ...stats.percentiles } });
      } catch (thrown) {
        const error = corruptAt(this.#key, thrown);
        if (isStoreFailure(error)) {
          // Who was answered is told nothing more.
          for (const { fail } of questions) fail(error);
          return error;
        }
        for (const { fail } of alike) fail(error);
      }
    }
    return undefined;
  }

  /** One round trip; another one where chunks were closed since the last, or no answer was seen yet. */
  async #stats(query: StatsQuery): Promise<WindowStats> {
    const percentiles = [...new Set(query.percentiles)].sort((a, b) => a - b);
    const { rollbacks } = this.#witness;
    const before = rollbacks.seen;
    const answer = await this.#ask(query, percentiles);
    rollbacks.see(answer, before);
    const { header, nowMs, moments, ordered } = answer;
    const toMs = query.atMs ?? (header ? seriesNowMs(header, nowMs) : nowMs);
    const fromMs = toMs - query.spanMs;
    const degradedBy = header && degradedOf({ ...answer, header }, fromMs, this.#witness.lacks(fromMs));
    const fold = new ServerFold(moments, percentiles, ordered);
    return statsOf(fold, query, this.#settings.nan, fromMs, toMs, degradedBy);
  }

  async #ask(query: StatsQuery, percentiles: readonly number[]): Promise<ServerAnswer> {
    const { valueType, clock } = this.#settings;
    const { closed, spanMs, atMs } = query;
    const reachMs = spanMs + (atMs === undefined ? 0 : Math.max(0, this.#nowMs - atMs));
    let wasUnlinked = false;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const input = { valueType, clock, closed, spanMs, atMs, newest: this.#newest, percentiles };
      const operation = reachMs < this.#farMs ? serverStats : serverStatsFar;
      const answer = await this.#store.run(operation, this.#key, input);
      // Keys that cannot be there are not named: in a slot on its way to another node they would hold the call up.
      const newest = answer.header?.birthBefore ? answer.header.number - 1 : undefined;
      if (answer.status === SERVER_STATUS.otherKeys && newest === input.newest) this.#farMs = reachMs;
      this.#newest = newest;
      this.#nowMs = answer.nowMs;
      switch (answer.status) {
        case SERVER_STATUS.done:
        case SERVER_STATUS.missing:
          return answer;
        case SERVER_STATUS.foreign:
          throw corruptError(this.#key, `it is no journal of format ${law.format}`);
        case SERVER_STATUS.mismatch:
          throw new OrielError(
            "MISMATCH",
            "the series is stored with another value type or clock than it was opened with",
          );
        case SERVER_STATUS.unlinked:
          // A deletion or a failover may have been half seen; what is damaged still is at the next look.
          if (wasUnlinked) throw corruptError(this.#key, "its chunks do not fit together");
          wasUnlinked = true;
      }
    }
    throw new OrielError("LOST", "the series kept changing while it was read", { transient: true });
  }
}
