import { gathering } from "../../../base/async/gathering.ts";
import { endsWithRequest } from "../../../base/async/of-request.ts";
import { OrielError } from "../../../base/errors.ts";
import type { Place } from "../../../base/place.ts";
import type { Store } from "../../../store/contract.ts";
import type { ServerTime } from "../../journal/replica/last-seen.ts";
import type { Column } from "../../kernel/contract.ts";
import type { WindowStats } from "../../stats/window-stats.ts";
import type { PendingQuery, QueryQueue } from "../pending-query.ts";
import { isStoreFault, isUnreachable, unsent } from "../refused.ts";
import type { Recorded, SeriesSettings } from "../series-options.ts";
import type { Batch } from "./batch.ts";
import { OfflineBuffer } from "./offline-buffer.ts";
import { OfflineSession } from "./offline-session.ts";
import { OnlineSession } from "./online-session.ts";
import { Outbox } from "./outbox.ts";
import { Recovery } from "./recovery.ts";
import type { CommitFailure, EventWriter, Session } from "./session.ts";

/** Maximum number of callers that wait for an answer. One takes about 300 bytes. */
const MAX_QUERIES = 65_536;

/**
 * Commits recorded events and answers queries, one request after the other. Each round takes the oldest batch and all
 * queries that wait for it, and passes them to the current session: online, or offline with `onStoreError: "local"`.
 * It is no `Coalescer`, because the other batches and queries stay for later rounds.
 */
export class CommitLoop implements QueryQueue, EventWriter {
  readonly online: OnlineSession;
  readonly #outbox: Outbox;
  readonly #offline: OfflineSession | undefined;
  readonly #recovery: Recovery | undefined;
  /** Work beside the loop. */
  readonly #aside = new Set<Promise<unknown>>();
  #queries: PendingQuery[] = [];
  /** By their kinds, the queries that further callers may join. */
  readonly #joinable = new Map<unknown, PendingQuery>();
  /** Number of callers that wait for `#queries`. */
  #callers = 0;
  #takenId = 0;
  #running: Promise<void> | undefined;
  /** The loop waits for the store. */
  #isSending = false;
  #isClosed = false;

  constructor(store: Store, key: string, settings: SeriesSettings, time: ServerTime, place: Place) {
    this.#outbox = new Outbox(settings, (error) => place.error("record", error));
    const { valueType, maxPendingBytes, isLocalOnError } = settings;
    const buffer = isLocalOnError ? new OfflineBuffer(valueType, maxPendingBytes) : undefined;
    this.online = new OnlineSession(store, key, settings, time, buffer);
    if (!buffer) return;
    this.#offline = new OfflineSession(store, place, settings, time, this.online.view, buffer);
    this.#recovery = new Recovery(this.online, this.#offline, settings, this);
  }

  get isBusy(): boolean {
    return this.#isSending || this.#aside.size > 0;
  }

  get isOffline(): boolean {
    return this.#offline?.isOffline === true;
  }

  /** Id of the batch with the newest event. */
  get lastBatch(): number {
    return this.#outbox.lastId;
  }

  put(value: number): Batch {
    this.checkOpen();
    const batch = this.#outbox.put(value);
    this.#wake();
    return batch;
  }

  putAt(value: number, at: number | Date): Promise<Recorded> {
    this.checkOpen();
    const recorded = this.#outbox.putAt(value, at);
    this.#wake();
    return recorded;
  }

  putMany(values: ArrayLike<number>, at: number | Date | ArrayLike<number> | undefined): Promise<Recorded> {
    this.checkOpen();
    const recorded = this.#outbox.putMany(values, at);
    this.#wake();
    return recorded;
  }

  /** Writes events that were buffered offline. */
  write(values: Column, times: Float64Array): Promise<Recorded> {
    if (endsWithRequest) return this.#writeNow(values, times);
    const recorded = this.#outbox.addMany(values, times, false);
    this.#wake();
    return recorded;
  }

  ask(query: PendingQuery): void {
    if (this.online.view.answerCached(query)) return;
    this.#queries.push(query);
    if (query.answer) this.#joinable.set(query.kind, query);
    this.#callers++;
    this.#wake();
  }

  join(kind: unknown, afterBatch: number): Promise<WindowStats> | undefined {
    const waiting = this.#joinable.get(kind);
    if (waiting?.afterBatch !== afterBatch) return undefined;
    waiting.callers++;
    this.#callers++;
    return waiting.answer;
  }

  /** Counts work as busy, and waits for it before closing. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#aside.add(work);
    const forget = () => this.#aside.delete(work);
    work.then(forget, forget);
    return work;
  }

  checkOpen(): void {
    if (this.#isClosed) throw new OrielError("UNAVAILABLE", "the series is closed");
  }

  /** Throws UNAVAILABLE if the series is closed, and OVERLOADED if too many queries wait for the store. */
  checkAskable(): void {
    this.checkOpen();
    if (this.#callers + this.#aside.size >= MAX_QUERIES)
      throw new OrielError("OVERLOADED", `${MAX_QUERIES} queries wait for the store`, { transient: true });
  }

  /** Switches to offline if the store caused the error and `onStoreError` is "local". Returns whether it did. */
  goOffline(error: unknown): boolean {
    if (!this.#offline || !isStoreFault(error)) return false;
    this.#offline.enter(error);
    if (!endsWithRequest) this.#recovery?.start();
    return true;
  }

  /** Reports the buffered events as lost; the series was deleted. */
  forgetBuffer(): void {
    this.#offline?.abandon("the series was deleted before its buffered events were sent");
    this.#offline?.buffer.clear();
  }

  /** Called when the request that owns this loop has ended, or seems to. */
  lose(): void {
    this.#recovery?.lose();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#recovery?.stop();
    await Promise.allSettled(this.#aside);
    while (this.#running) await this.#running;
    // Only now: what was under way may have been buffered meanwhile.
    this.#offline?.abandon("the series was closed before its buffered events were sent");
    await this.online.close();
  }

  #wake(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    for (;;) {
      await gathering();
      const batch = this.#outbox.take();
      if (batch) this.#takenId = batch.id;
      const queries = this.#takeUntil(this.#takenId);
      if (!batch && queries.length === 0) break;
      this.#isSending = true;
      await this.#commit(batch, queries);
      if (batch) this.#outbox.done(batch);
      if (this.#outbox.isEmpty && this.#queries.length === 0) break;
    }
    this.#running = undefined;
    this.#isSending = false;
  }

  /** Takes the queries that need no batch after `id`. From then on no caller joins them. */
  #takeUntil(id: number): PendingQuery[] {
    if (this.#queries.length === 0) return [];
    const due = this.#queries.filter((query) => query.afterBatch <= id);
    this.#queries = this.#queries.filter((query) => query.afterBatch > id);
    this.#joinable.clear();
    this.#callers = this.#queries.reduce((sum, { callers }) => sum + callers, 0);
    return due;
  }

  /** Never rejects: errors go to the callers. */
  async #commit(batch: Batch | undefined, queries: PendingQuery[]): Promise<void> {
    const { view } = this.online;
    if (queries.length > 0) view.hold();
    if (endsWithRequest && this.isOffline) await this.#recovery?.tryNow();
    const { lastId } = this.#outbox;
    const begunMs = this.#offline?.nowMs() ?? 0;
    const failure = await this.#session.commit(batch, queries);
    if (failure) {
      if (!this.goOffline(failure.error)) await this.#fail(failure, lastId);
      else this.#offline?.takeOver(failure, begunMs, (failure.error as OrielError).applied === "unknown");
    }
    if (queries.length > 0) view.release();
  }

  get #session(): Session {
    return this.#offline?.isOffline ? this.#offline : this.online;
  }

  /**
   * Fails the calls of a commit. If the store was unreachable, calls that were queued before the commit ended fail too.
   * So no call waits for two deadlines.
   */
  async #fail({ error, batch, queries }: CommitFailure, lastId: number): Promise<void> {
    batch?.fail(error);
    // These do not depend on the batch.
    const others = queries.filter((query) => batch && query.afterBatch < batch.id);
    for (const query of queries) if (!others.includes(query)) query.fail(error);
    if (!isUnreachable(error)) {
      if (others.length > 0) await this.#commit(undefined, others);
      return;
    }
    const why = unsent(error);
    this.#outbox.failUntil(lastId, why);
    for (const query of [...others, ...this.#takeUntil(lastId)]) query.fail(why);
  }

  /** Writes at once. In Workers the request that found the store back writes, because the loop's own may have ended. */
  async #writeNow(values: Column, times: Float64Array): Promise<Recorded> {
    const outbox = this.#outbox.another();
    const recorded = outbox.addMany(values, times, false);
    for (let batch = outbox.take(); batch; batch = outbox.take()) await this.#commit(batch, []);
    return recorded;
  }
}
