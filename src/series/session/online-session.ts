import { endsWithRequest } from "../../async/of-request.ts";
import type { JournalAnswer } from "../../journal/format/answer.ts";
import { JournalReader } from "../../journal/replica/journal-reader.ts";
import type { ServerTime } from "../../journal/replica/last-seen.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { lookbackOf, type PendingQuery } from "../pending-query.ts";
import type { SeriesSettings } from "../series-options.ts";
import { OutlineStats } from "../server/outline-stats.ts";
import { type ServerQuery, ServerStats } from "../server/server-queries.ts";
import type { Batch } from "./batch.ts";
import { JournalView } from "./journal-view.ts";
import { type AppendAnswer, JournalWriter } from "./journal-writer.ts";
import type { OfflineBuffer } from "./offline-buffer.ts";
import type { CommitFailure, Session } from "./session.ts";

/** With more queries at once, one read of the events is cheaper than an outline for each. */
const MAX_OUTLINED = 4;

/**
 * The session while the store answers. One request writes the batch, and its answer is the cut at which the queries are
 * answered: it has every byte that this process's copy of the open chunk lacks.
 */
export class OnlineSession implements Session {
  readonly reader: JournalReader;
  readonly view: JournalView;
  readonly #key: string;
  readonly #time: ServerTime;
  readonly #writer: JournalWriter;
  readonly #server: ServerStats;
  readonly #outlines: OutlineStats;
  /** A process that keeps no copy needs the outlines of sealed chunks only. */
  readonly #isOutlined: boolean;

  constructor(store: Store, key: string, settings: SeriesSettings, time: ServerTime, buffer?: OfflineBuffer) {
    this.#key = key;
    this.#time = time;
    this.reader = new JournalReader(store, key);
    this.view = new JournalView(store, key, settings, this.reader, buffer);
    this.#writer = new JournalWriter(store, key, settings, this.reader, time);
    this.#outlines = new OutlineStats(store, key, settings, this.view, (header) => this.#writer.seeRead(header));
    this.#server = new ServerStats(store, key, settings, this.view, this.#outlines);
    this.#isOutlined = !settings.isResident;
  }

  async commit(batch: Batch | undefined, all: readonly PendingQuery[]): Promise<CommitFailure | undefined> {
    const asked = this.view.age.now();
    const { rollbacks } = this.view;
    const before = rollbacks.seen;
    let cut: JournalAnswer | AppendAnswer;
    let queries = all;
    try {
      if (!batch && this.#isOutlined && queries.length <= MAX_OUTLINED)
        queries = await this.#answerFromOutlines(queries);
      if (!batch && queries.length === 0) return undefined;
      if (!batch) cut = await this.reader.open(this.view.known, lookbackOf(queries));
      else if (queries.length > 0) cut = await this.#writer.append(batch, this.view.known, lookbackOf(queries));
      else {
        const event = this.#writer.eventOf(batch);
        if (!event) cut = await this.#writer.append(batch, "none");
        else cut = (await this.#writer.record(event)) ?? (await this.#writer.appendEvent(event));
      }
      this.#time.learn(cut);
      rollbacks.see(cut, before);
    } catch (thrown) {
      return { error: corruptAt(this.#key, thrown), batch, queries };
    }
    if (batch) this.#writer.see(cut);
    else this.#writer.seeRead(cut.header);
    if (endsWithRequest) await this.#writer.rotated();
    batch?.settle(cut.verdicts, cut.isOnlyCopy);
    if (queries.length === 0) return undefined;
    // `await` saves two microtasks here. The copy is then released before the callers continue.
    return await this.view.answer(cut as JournalAnswer, queries, asked);
  }

  /** Returns the queries that need the events. Throws an error of the store after it has answered the other queries. */
  async #answerFromOutlines(queries: readonly PendingQuery[]): Promise<readonly PendingQuery[]> {
    const kinds = new Map(queries.flatMap(({ kind, stats }) => (stats ? [[kind, stats] as const] : [])));
    // Waits for all of them, so that no error is left unhandled.
    const settled = await Promise.allSettled([...kinds.values()].map((query) => this.#outlines.stats(query)));
    const answers = new Map([...kinds.keys()].map((kind, i) => [kind, settled[i]!]));
    const rest = queries.filter((query) => {
      const answer = query.stats && answers.get(query.kind);
      if (answer?.status !== "fulfilled" || !answer.value) return true;
      query.resolve(answer.value);
      return false;
    });
    const failed = settled.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed) throw failed.reason;
    return rest;
  }

  answerOnServer(queries: readonly ServerQuery[]): Promise<unknown> {
    return this.#server.answer(queries);
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
