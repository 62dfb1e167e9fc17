import { OrielError } from "../../errors.ts";
import type { Answer } from "../../journal/format/answer.ts";
import { degradedOf, seriesNowMs } from "../../journal/format/coverage.ts";
import { law } from "../../journal/format/law.ts";
import { Rolled } from "../../journal/format/rolled.ts";
import { decodeSummary, type Summary } from "../../journal/format/summary.ts";
import { JournalCopy } from "../../journal/replica/journal-copy.ts";
import { type JournalReader, TooMany } from "../../journal/replica/journal-reader.ts";
import type { Rollbacks } from "../../journal/replica/rollbacks.ts";
import { approximate } from "../../journal/steps/approximate.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import { summarize } from "../../journal/steps/summarize.ts";
import { type Degraded, statsOf, type WindowStats } from "../../stats/window-stats.ts";
import type { Store } from "../../store/contract.ts";
import type { ApproximateQuery } from "../approximate-query.ts";
import type { Question } from "../question.ts";
import type { SeriesSettings } from "../series-options.ts";
import { waiting } from "../waiting.ts";
import { SummaryFold } from "./summary-fold.ts";
import { summaryOf } from "./summary-of.ts";

/** What the summaries of a journal need of its loop. */
export interface SummedUp {
  reader: JournalReader;
  /** What questions are answered from. */
  copy: JournalCopy;
  ask(question: Question): void;
  learn(answer: Answer): void;
  rollbacks: Rollbacks;
  lacks(fromMs: number): Degraded | undefined;
  /** Whether calls are answered without the store, and whether they are from such an error on; see Fallback. */
  isAway(): boolean;
  leave(error: unknown): boolean;
}

/** Publishes summaries of a journal, and answers from one that is found. */
export class Summaries {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #journal: SummedUp;
  /** There was no summary: the next question had better be the first of a copy that is kept. */
  #isToHold = false;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(store: Store, key: string, settings: SeriesSettings, journal: SummedUp) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#journal = journal;
  }

  /** How many calls are under way. */
  get size(): number {
    return this.#underWay.size;
  }

  /** Waits for what was asked before. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  publish(rankError: number): Promise<void> {
    return this.#follow(this.#publish(rankError));
  }

  /** `exactly` is asked where only the journal itself will do: no more is known then than before. */
  stats(query: ApproximateQuery, exactly: () => Promise<WindowStats>): Promise<WindowStats> {
    const answer = async () =>
      (await this.#near(query)) ?? { ...(await exactly()), approximate: { rankError: 0, events: 0 } };
    return this.#follow(answer());
  }

  #follow<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = () => this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  async #publish(rankError: number): Promise<void> {
    const summary = await this.#summary(rankError);
    if (summary && !(await this.#store.run(summarize, this.#key, summary)))
      throw new OrielError("LOST", "the series changed while it was summed up", { transient: true });
  }

  /** Of all within the retention, at one cut. */
  #summary(rankError: number): Promise<Uint8Array | undefined> {
    const { promise, resolve, reject } = waiting<Uint8Array | undefined>();
    const spanMs = this.#settings.retentionMs;
    this.#journal.ask({
      window: { spanMs, atMs: undefined, closed: "both", maxAgeMs: 0, kind: "" },
      afterBatch: 0,
      kind: {},
      tellsDegraded: false,
      compute: (_view, fromMs) => summaryOf(this.#journal.copy, fromMs, rankError),
      resolve: resolve as (answer: unknown) => void,
      fail: reject,
    });
    return promise;
  }

  async #near(query: ApproximateQuery): Promise<WindowStats | undefined> {
    const { copy, rollbacks } = this.#journal;
    // What is held is brought up to date by fewer bytes than any summary takes.
    if (copy.tail || this.#journal.isAway() || this.#isToHold) return undefined;
    const begunMs = this.#store.monotonic();
    const reach = { spanMs: query.spanMs, fromMs: Infinity, mostBytes: law.coldBytes };
    if (query.atMs !== undefined) Object.assign(reach, { spanMs: -Infinity, fromMs: query.atMs - query.spanMs });
    const before = rollbacks.seen;
    try {
      const { answer, summary } = await this.#store.run(approximate, this.#key, reach);
      this.#journal.learn(answer);
      rollbacks.see(answer, before);
      this.#isToHold = !summary && this.#settings.isResident;
      const stats = await this.#read(query, answer, summary && decodeSummary(summary));
      return this.#store.monotonic() - begunMs <= law.longestReadMs ? stats : undefined;
    } catch (thrown) {
      const error = corruptAt(this.#key, thrown);
      const isKnown = error instanceof Rolled || error instanceof TooMany || this.#journal.leave(error);
      if (isKnown || (error instanceof OrielError && error.code === "CORRUPT")) return undefined;
      throw error;
    }
  }

  async #read(query: ApproximateQuery, cut: Answer, summary: Summary | undefined): Promise<WindowStats | undefined> {
    const { header, nowMs } = cut;
    const { valueType, clock, nan, maxResidentBytes } = this.#settings;
    if (header?.format !== law.format || header.valueType !== valueType || header.clock !== clock) return undefined;
    if (!summary && !cut.older) return undefined;
    const toMs = query.atMs ?? seriesNowMs(header, nowMs);
    const fromMs = toMs - query.spanMs;
    if (summary && (summary.header.valueType !== valueType || fromMs < summary.fromMs)) return undefined;
    const copy = summary ? JournalCopy.after(summary.header, summary.known, summary.frames) : new JournalCopy();
    const begin = copy.head;
    await this.#journal.reader.follow(copy, cut, fromMs, maxResidentBytes);
    const fold = new SummaryFold();
    const used = begin && copy.head === begin ? summary : undefined;
    if (used) fold.addDigests(used.digests, fromMs, toMs, query.closed);
    for (const segment of copy.segments.list) segment.collect(fold, fromMs, toMs, query.closed);
    const { rankError, uncertain: events } = fold;
    if (!(rankError <= query.rankError) || fold.overflowed) return undefined;
    if (fold.isNanUncertain && nan !== "ignore") return undefined;
    const oldest = copy.head!.header;
    const missing = used ? used.isOlderMissing : copy.noOlder && oldest.birthBefore !== 0;
    const reachMs = used ? used.reachMs : clock === 1 ? oldest.latestMs : oldest.createdMs;
    const degradedBy = degradedOf({ header, nowMs, missing, reachMs }, fromMs, this.#journal.lacks(fromMs));
    return { ...statsOf(fold, query, nan, fromMs, toMs, degradedBy), approximate: { rankError, events } };
  }
}
