import { endsWithRequest } from "../../../base/async/of-request.ts";
import type { OrielError } from "../../../base/errors.ts";
import type { Store } from "../../../store/contract.ts";
import type { JournalAnswer } from "../../journal/format/answer.ts";
import { JournalReader } from "../../journal/replica/journal-reader.ts";
import type { JournalPosition, ServerTime } from "../../journal/replica/last-seen.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import { OutlineStats, outlineQueryOf } from "../outlines/outline-stats.ts";
import { type AskedQuery, lookbackOf, type PendingQuery } from "../pending-query.ts";
import { afterRecording } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { Batch } from "./batch.ts";
import { JournalView } from "./journal-view.ts";
import { type AppendAnswer, JournalWriter } from "./journal-writer.ts";
import type { OfflineBuffer } from "./offline-buffer.ts";
import { type Held, QueryPlan, type QueryPlanReport } from "./query-plan.ts";
import type { CommitFailure, Session } from "./session.ts";

/**
 * The session while the store answers. One request writes the batch, and its answer is the cut at which the queries are
 * answered: it has every byte that this process's copy of the open chunk lacks. Where outlines cost less than the copy, they
 * follow the write.
 */
export class OnlineSession implements Session {
  readonly reader: JournalReader;
  readonly view: JournalView;
  readonly #key: string;
  readonly #time: ServerTime;
  readonly #writer: JournalWriter;
  readonly #outlines: OutlineStats;
  readonly #plan = new QueryPlan();
  /** With "local" this process answers from its copy while the store is away, so it always has one. */
  readonly #alwaysCopies: boolean;

  constructor(store: Store, key: string, settings: SeriesSettings, time: ServerTime, buffer?: OfflineBuffer) {
    this.#key = key;
    this.#time = time;
    this.#alwaysCopies = settings.isLocalOnError;
    this.reader = new JournalReader(store, key);
    this.view = new JournalView(store, key, settings, this.reader, buffer);
    this.#writer = new JournalWriter(store, key, settings, this.reader, time);
    this.#outlines = new OutlineStats(store, key, settings, this.view, {
      see: (answer) => this.#seeRead(answer),
      spent: (...cost) => this.#plan.spent(...cost),
    });
  }

  /** Not async: the copy is released before the callers continue (see below). */
  commit(batch: Batch | undefined, queries: readonly PendingQuery[]): Promise<CommitFailure | undefined> {
    if (queries.length > 0) {
      const held = this.view.heldFor(queries);
      if (this.#planOf(queries, held) === "outlines") {
        if (this.view.known === undefined) return this.#commitOutlined(batch, queries, held);
        this.view.dropAfterUse();
      }
      this.#plan.copied(held);
    }
    if (!batch || queries.length === 0 || this.view.known !== undefined) return this.#commitCopied(batch, queries);
    return this.#recordAndCopy(batch, queries);
  }

  async #recordAndCopy(batch: Batch, queries: readonly PendingQuery[]): Promise<CommitFailure | undefined> {
    const failure = await this.#commitCopied(batch, []);
    if (failure) return { ...failure, queries };
    return this.#recorded(await this.#commitCopied(undefined, queries));
  }

  async #commitCopied(batch: Batch | undefined, queries: readonly PendingQuery[]): Promise<CommitFailure | undefined> {
    const asked = this.view.age.now();
    const before = this.view.rollbacks.seen;
    let cut: JournalAnswer | AppendAnswer;
    try {
      if (!batch) cut = await this.reader.open(this.view.known, lookbackOf(queries));
      else if (queries.length > 0) cut = await this.#writer.append(batch, this.view.known ?? "none");
      else {
        const event = this.#writer.eventOf(batch);
        if (!event) cut = await this.#writer.append(batch, "none");
        else cut = (await this.#writer.record(event)) ?? (await this.#writer.appendEvent(event));
      }
      this.#learn(cut, before);
    } catch (thrown) {
      return { error: corruptAt(this.#key, thrown), batch, queries };
    }
    if (batch) this.#writer.see(cut);
    if (endsWithRequest) await this.#writer.rotated();
    batch?.settle(cut.verdicts, cut.isOnlyCopy);
    if (queries.length === 0) return undefined;
    this.#seeRead(cut as JournalAnswer);
    // `await` saves two microtasks here. The copy is then released before the callers continue.
    const failure = await this.view.answer(cut as JournalAnswer, queries, asked);
    return failure && this.#answerBeyond(failure);
  }

  async #commitOutlined(
    batch: Batch | undefined,
    all: readonly PendingQuery[],
    held: Held,
  ): Promise<CommitFailure | undefined> {
    const asked = this.view.age.now();
    const first = all[0]!;
    let cut: JournalAnswer | undefined;
    if (batch) {
      const before = this.view.rollbacks.seen;
      try {
        cut = await this.#writer.append(batch, "none", outlineQueryOf(first.stats!));
        this.#learn(cut, before);
      } catch (thrown) {
        return { error: corruptAt(this.#key, thrown), batch, queries: all };
      }
      this.#writer.see(cut);
      if (endsWithRequest) await this.#writer.rotated();
      batch.settle(cut.verdicts, cut.isOnlyCopy);
    }
    const queries = new Set(all);
    let whole: JournalAnswer | undefined;
    try {
      whole = await this.#answerFromOutlines(queries, first, cut);
    } catch (thrown) {
      return this.#recorded({ error: corruptAt(this.#key, thrown), batch: undefined, queries: [...queries] });
    }
    if (queries.size === 0) {
      this.#plan.outlined(held);
      return undefined;
    }
    this.#plan.copied(held);
    if (!whole || this.view.known !== undefined)
      return this.#recorded(await this.#commitCopied(undefined, [...queries]));
    const failure = await this.view.answer(whole, [...queries], asked);
    return failure && this.#answerBeyond(failure);
  }

  #learn(cut: JournalAnswer | AppendAnswer, before: JournalPosition | undefined): void {
    this.#time.learn(cut);
    this.view.rollbacks.see(cut, before);
  }

  /** If the windows are too large for a copy, answers their statistics from outlines. Returns any other failure as it is. */
  async #answerBeyond(failure: CommitFailure): Promise<CommitFailure | undefined> {
    const { error, queries } = failure;
    if (this.#alwaysCopies || (error as OrielError).code !== "TOO_LARGE") return failure;
    const left = new Set(queries);
    try {
      await this.#answerFromOutlines(left, queries[0]!, undefined);
    } catch (thrown) {
      return this.#recorded({ error: corruptAt(this.#key, thrown), batch: undefined, queries: [...left] });
    }
    for (const query of left) query.fail(query.afterBatch > 0 ? afterRecording(error) : error);
    return undefined;
  }

  /** Fails the queries of calls that have recorded an event, with an error that says so. Returns the failure of the others. */
  #recorded(failure: CommitFailure | undefined): CommitFailure | undefined {
    if (!failure || this.#alwaysCopies) return failure;
    const { error, batch, queries } = failure;
    const others = queries.filter(({ afterBatch }) => afterBatch === 0);
    for (const query of queries) if (query.afterBatch > 0) query.fail(afterRecording(error));
    return { error, batch, queries: others };
  }

  /**
   * Answers queries and takes them out of the set. Those that need the events stay there. Returns the journal if it was read whole,
   * because no chunk of it is sealed. `cut`: the answer to the query `first`, if it came with an append. Throws an error of the store after
   * it has answered the other queries.
   */
  async #answerFromOutlines(
    queries: Set<PendingQuery>,
    first: PendingQuery,
    cut: JournalAnswer | undefined,
  ): Promise<JournalAnswer | undefined> {
    const kinds = new Map([...queries].map((query) => [query.kind, query] as const));
    // Waits for all of them, so that no error is left unhandled.
    const settled = await Promise.allSettled(
      [...kinds].map(([kind, { stats, isPart }]) =>
        this.#outlines.stats(stats!, isPart === true, kind === first.kind ? cut : undefined),
      ),
    );
    const answers = new Map([...kinds.keys()].map((kind, i) => [kind, settled[i]!]));
    for (const query of queries) {
      const answer = answers.get(query.kind)!;
      if (answer.status !== "fulfilled" || !answer.value || "status" in answer.value) continue;
      query.resolve(answer.value);
      queries.delete(query);
    }
    for (const answer of settled)
      if (answer.status === "fulfilled" && answer.value && "status" in answer.value) return answer.value;
    for (const answer of settled) if (answer.status === "rejected") throw answer.reason;
    return undefined;
  }

  #planOf(queries: readonly AskedQuery[], held: Held): QueryPlanReport["plan"] {
    if (this.#alwaysCopies || queries.some(({ stats }) => !stats)) return "copy";
    return this.#plan.choose(held, new Set(queries.map(({ kind }) => kind)).size);
  }

  #seeRead(answer: JournalAnswer): void {
    this.#writer.seeRead(answer.header);
    this.#plan.see(answer);
  }

  /** How a query would be answered now. */
  explain(query: StatsQuery): QueryPlanReport {
    const asked = [{ window: query, kind: query, stats: query }];
    const held = this.view.heldFor(asked);
    return { ...this.#plan.report(held), plan: this.#planOf(asked, held) };
  }

  /** Sends a small request, which fails while the store is unreachable. */
  async probe(): Promise<void> {
    this.#time.learn(await this.reader.open("header"));
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.view.clear();
  }
}
