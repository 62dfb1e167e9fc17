import { OrielError } from "../../errors.ts";
import type { JournalAnswer } from "../../journal/format/answer.ts";
import { degradedOf, seriesNowMs } from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";
import { JournalRolledBack } from "../../journal/format/journal-rolled-back.ts";
import { decodeSummary, type Summary } from "../../journal/format/summary.ts";
import { JournalCopy } from "../../journal/replica/journal-copy.ts";
import { WindowTooLarge } from "../../journal/replica/journal-reader.ts";
import type { ServerTime } from "../../journal/replica/last-seen.ts";
import { approximate } from "../../journal/steps/approximate.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import { summarize } from "../../journal/steps/summarize.ts";
import { statsOf, type WindowStats } from "../../stats/window-stats.ts";
import type { Store } from "../../store/contract.ts";
import type { ExactQueries, QueryStrategy } from "../pending-query.ts";
import type { ApproximateQuery } from "../queries.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { CommitLoop } from "../session/commit-loop.ts";
import { SummaryFold } from "./summary-fold.ts";
import { summaryOf } from "./summary-of.ts";

/** Answers from a published summary if there is one and it is accurate enough; otherwise exactly. Publishes summaries too. */
export class ApproximateQueries implements QueryStrategy<ApproximateQuery> {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #time: ServerTime;
  readonly #loop: CommitLoop;
  readonly #exact: ExactQueries;
  /** True after a query found no summary. The next query is then answered exactly, from a copy that stays cached. */
  #isToCache = false;

  constructor(
    store: Store,
    key: string,
    settings: SeriesSettings,
    time: ServerTime,
    loop: CommitLoop,
    exact: ExactQueries,
  ) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#time = time;
    this.#loop = loop;
    this.#exact = exact;
  }

  publish(rankError: number): Promise<void> {
    return this.#loop.track(this.#publish(rankError));
  }

  stats(query: ApproximateQuery): Promise<WindowStats> {
    return this.#loop.track(this.#stats(query));
  }

  async #stats(query: ApproximateQuery): Promise<WindowStats> {
    const near = await this.#near(query);
    return near ?? { ...(await this.#exact.stats(query)), approximate: { rankError: 0, events: 0 } };
  }

  async #publish(rankError: number): Promise<void> {
    const summary = await this.#summary(rankError);
    if (summary && !(await this.#store.run(summarize, this.#key, summary)))
      throw new OrielError("LOST", "the series changed while it was being summarized", { transient: true });
  }

  /** The summary of all events within the retention, at one cut. */
  #summary(rankError: number): Promise<Uint8Array | undefined> {
    const spanMs = this.#settings.retentionMs;
    const window = { spanMs, atMs: undefined, closed: "both", maxAgeMs: 0, kind: "" } as const;
    const { copy } = this.#loop.online.view;
    return this.#exact.compute(window, {}, (_view, fromMs) => summaryOf(copy, fromMs, rankError), false);
  }

  async #near(query: ApproximateQuery): Promise<WindowStats | undefined> {
    const { copy, rollbacks } = this.#loop.online.view;
    // Updating a cached copy takes fewer bytes than any summary.
    if (copy.tail || this.#loop.isOffline || this.#isToCache) return undefined;
    const begunMs = this.#store.monotonic();
    const reach = { spanMs: query.spanMs, fromMs: Number.POSITIVE_INFINITY, maxBytes: constants.firstReadBytes };
    if (query.atMs !== undefined)
      Object.assign(reach, { spanMs: Number.NEGATIVE_INFINITY, fromMs: query.atMs - query.spanMs });
    const before = rollbacks.seen;
    try {
      const { answer, summary } = await this.#store.run(approximate, this.#key, reach);
      this.#time.learn(answer);
      rollbacks.see(answer, before);
      this.#isToCache = !summary && this.#settings.isResident;
      const stats = await this.#read(query, answer, summary && decodeSummary(summary));
      return this.#store.monotonic() - begunMs <= constants.maxReadMs ? stats : undefined;
    } catch (thrown) {
      const error = corruptAt(this.#key, thrown);
      const isKnown =
        error instanceof JournalRolledBack || error instanceof WindowTooLarge || this.#loop.goOffline(error);
      if (isKnown || (error instanceof OrielError && error.code === "CORRUPT")) return undefined;
      throw error;
    }
  }

  async #read(
    query: ApproximateQuery,
    cut: JournalAnswer,
    summary: Summary | undefined,
  ): Promise<WindowStats | undefined> {
    const { header, nowMs } = cut;
    const { valueType, clock, nan, maxResidentBytes } = this.#settings;
    const { reader, view } = this.#loop.online;
    if (header?.format !== constants.format || header.valueType !== valueType || header.clock !== clock)
      return undefined;
    if (!summary && !cut.closedChunks) return undefined;
    const toMs = query.atMs ?? seriesNowMs(header, nowMs);
    const fromMs = toMs - query.spanMs;
    if (summary && (summary.header.valueType !== valueType || fromMs < summary.fromMs)) return undefined;
    const copy = summary ? JournalCopy.after(summary.header, summary.known, summary.frames) : new JournalCopy();
    const begin = copy.head;
    await reader.follow(copy, cut, fromMs, maxResidentBytes);
    const fold = new SummaryFold();
    const used = begin && copy.head === begin ? summary : undefined;
    if (used) fold.addDigests(used.digests, fromMs, toMs, query.closed);
    for (const segment of copy.segments.list) segment.collect(fold, fromMs, toMs, query.closed);
    const { rankError, uncertain: events } = fold;
    if (!(rankError <= query.rankError) || fold.isOverflowed) return undefined;
    if (fold.isNanUncertain && nan !== "ignore") return undefined;
    const oldest = copy.head!.header;
    const missing = used ? used.isOlderMissing : copy.isFirstKnown && oldest.birthBefore !== 0;
    const reachMs = used ? used.coversUntilMs : clock === 1 ? oldest.latestMs : oldest.createdMs;
    const degradedBy = degradedOf(
      { header, nowMs, missing, coversUntilMs: reachMs },
      fromMs,
      view.missingReason(fromMs),
    );
    return { ...statsOf(fold, query, nan, fromMs, toMs, degradedBy), approximate: { rankError, events } };
  }
}
