import type { OneAtATime } from "../../../base/async/beside.ts";
import { gathering } from "../../../base/async/gathering.ts";
import { endsWithRequest } from "../../../base/async/of-request.ts";
import { argumentError, OrielError } from "../../../base/errors.ts";
import type { Site } from "../../../base/site.ts";
import { instantMs } from "../../../base/time.ts";
import type { Store } from "../../../store/contract.ts";
import { constants } from "../../journal/format/constants.ts";
import { frameSize } from "../../journal/format/frames.ts";
import type { ServerTime } from "../../journal/replica/last-seen.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { Column } from "../../kernel/contract.ts";
import { checkValue } from "../../kernel/nan.ts";
import { columnOf, timesOf } from "../../stats/values.ts";
import type { WindowStats } from "../../stats/window-stats.ts";
import { ExactQueries, type PendingQuery, type QueryQueue } from "../pending-query.ts";
import { isStoreFault, isUnreachable, unsent } from "../refused.ts";
import { BUFFERED, type Recorded, type SeriesSettings, STORED } from "../series-options.ts";
import { Batch, type CallOutcome } from "./batch.ts";
import { deleteJournal } from "./journal-delete.ts";
import { OfflineBuffer } from "./offline-buffer.ts";
import { OfflineSession } from "./offline-session.ts";
import { OnlineSession } from "./online-session.ts";
import { Recovery } from "./recovery.ts";
import type { CommitFailure, EventWriter, Session } from "./session.ts";

/** Maximum number of callers that wait for an answer. One takes about 300 bytes. */
const MAX_QUERIES = 65_536;

/**
 * One process's side of a series. Commits recorded events and answers queries, one request after the other. Each round takes the oldest batch and all
 * queries that wait for it, and passes them to the current session: online, or offline with `onStoreError: "local"`.
 * It is no `Coalescer`, because the other batches and queries stay for later rounds.
 */
export class CommitLoop implements OneAtATime, QueryQueue, EventWriter {
  readonly online: OnlineSession;
  readonly exact: ExactQueries;
  readonly #store: Store;
  readonly #key: string;
  readonly #outbox: Outbox;
  readonly #offline: OfflineSession | undefined;
  readonly #recovery: Recovery | undefined;
  readonly #ended: SeriesSettings["ended"];
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

  /** `key`: the journal's. `time`: the estimate of the server's clock, shared by the loops of a series. */
  constructor(store: Store, key: string, settings: SeriesSettings, time: ServerTime, site: Site) {
    this.#store = store;
    this.#key = key;
    this.exact = new ExactQueries(this, settings.nan);
    this.#ended = settings.ended;
    this.#outbox = new Outbox(settings, (error) => site.error("record", error));
    const { valueType, maxPendingBytes, isLocalOnError } = settings;
    const buffer = isLocalOnError ? new OfflineBuffer(valueType, maxPendingBytes) : undefined;
    this.online = new OnlineSession(store, key, settings, time, buffer);
    if (!buffer) return;
    this.#offline = new OfflineSession(store, site, settings, time, this.online.view, buffer);
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

  /** Deletes the journal as it is now. Events recorded by others meanwhile begin a new one. */
  async delete(): Promise<void> {
    const { reader, view } = this.online;
    try {
      await deleteJournal(this.#store, this.#key, reader);
    } catch (error) {
      throw corruptAt(this.#key, error);
    } finally {
      view.age.forget();
    }
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
    const session = this.#session;
    const failure = await session.commit(batch, queries);
    if (session === this.online) this.#ended?.(failure?.error);
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

/** An upper bound: 4 bytes of time and 8 of value. A call's share of a batch then fits into one append. */
const DATED_BYTES_PER_EVENT = 12;
const DATED_PER_BATCH = Math.floor((constants.appendBytes - 4096) / DATED_BYTES_PER_EVENT);

/**
 * Events on their way to the store: batches in order, bounded in bytes.
 *
 *                take                                  put, putAt, putMany
 *   in flight  <──────  | batch 7 | batch 8 | batch 9 |  <──────  callers
 *   (batch 6)              oldest               open
 *   └──────────────── at most maxPendingBytes ────────┘
 *
 * Ids rise by one. A query names the last batch that it must see.
 */
class Outbox {
  readonly #settings: SeriesSettings;
  readonly #toCallerError: ((error: unknown) => unknown) | undefined;
  #batches: Batch[] = [];
  #nextId = 1;
  /** Bytes of batches that were taken and have no answer yet. */
  #takenBytes = 0;

  /** `toCallerError` makes the error that callers of undated events see. */
  constructor(settings: SeriesSettings, toCallerError?: (error: unknown) => unknown) {
    this.#settings = settings;
    this.#toCallerError = toCallerError;
  }

  /** Id of the batch with the newest event; the first batch has id 1. */
  get lastId(): number {
    return this.#nextId - 1;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** Puts one undated event into the open batch, which reports its outcome. */
  put(value: number): Batch {
    const { valueType, nan, unitsPerOne } = this.#settings;
    checkValue(value, valueType, nan);
    this.#checkDated(undefined);
    this.#checkRoom(1, false);
    const batch = this.#open(1);
    batch.put(unitsPerOne === 0 ? value : rounded(value, unitsPerOne));
    return batch;
  }

  putAt(value: number, at: number | Date): Promise<Recorded> {
    const { valueType, nan } = this.#settings;
    checkValue(value, valueType, nan);
    return this.addMany(this.#columnOf([value]), Float64Array.of(instantMs("at", at)));
  }

  putMany(values: ArrayLike<number>, at: number | Date | ArrayLike<number> | undefined): Promise<Recorded> {
    const column = this.#columnOf(values);
    this.#checkDated(at);
    return this.addMany(column, at === undefined ? undefined : timesOf(at, column.length));
  }

  /**
   * Puts checked events. If a part of a large call fails, the error says how many events were written. `isBounded` is
   * false for events that another bound counts already.
   */
  addMany(values: Column, times?: Float64Array, isBounded = true): Promise<Recorded> {
    const total = values.length;
    if (total === 0) return Promise.resolve(STORED);
    if (isBounded) this.#checkRoom(total, times !== undefined);
    const parts: Promise<CallOutcome>[] = [];
    for (let from = 0; from < total; ) {
      let count: number;
      if (times) {
        count = Math.min(total - from, DATED_PER_BATCH);
        const batch = this.#fit(frameSize(this.#settings.valueType, count, true) + 4096);
        parts.push(batch.addDated(values.slice(from, from + count), times.slice(from, from + count)));
      } else {
        const batch = this.#open(Math.min(total - from, 1024));
        count = Math.min(total - from, batch.room);
        const written = count;
        parts.push(batch.addMany(values, from, from + count).then((recorded) => ({ count: written, recorded })));
      }
      from += count;
    }
    return all(parts, total);
  }

  /** The oldest batch. The caller reports its end with `done`. */
  take(): Batch | undefined {
    const batch = this.#batches.shift();
    if (batch) this.#takenBytes += batch.sizeBytes;
    return batch;
  }

  /** An empty outbox of the same series, for events that must not wait behind these. */
  another(): Outbox {
    return new Outbox(this.#settings, this.#toCallerError);
  }

  done(batch: Batch): void {
    this.#takenBytes -= batch.sizeBytes;
  }

  /** Fails the batches up to `id`, which will not be sent. */
  failUntil(id: number, error: unknown): void {
    for (let [first] = this.#batches; first && first.id <= id; [first] = this.#batches) {
      this.#batches.shift();
      first.fail(error);
    }
  }

  #open(room: number): Batch {
    const last = this.#batches.at(-1);
    return last && last.room >= room ? last : this.#begin();
  }

  #fit(sizeBytes: number): Batch {
    const last = this.#batches.at(-1);
    return last && last.sizeBytes + sizeBytes <= constants.appendBytes ? last : this.#begin();
  }

  #begin(): Batch {
    const batch = new Batch(this.#nextId++, this.#settings, this.#toCallerError);
    this.#batches.push(batch);
    return batch;
  }

  #columnOf(values: ArrayLike<number>): Column {
    const { valueType, nan, unitsPerOne } = this.#settings;
    const column = columnOf(values, valueType, nan);
    if (unitsPerOne > 0) for (let i = 0; i < column.length; i++) column[i] = rounded(values[i]!, unitsPerOne);
    return column;
  }

  #checkDated(at: unknown): void {
    if (this.#settings.clock === 1 && at === undefined)
      throw argumentError("at", at, 'given, because the series has clock: "event"');
  }

  #checkRoom(count: number, dated: boolean): void {
    const { valueType, maxPendingBytes } = this.#settings;
    const bytes = frameSize(valueType, count, dated);
    let pending = this.#takenBytes;
    for (const batch of this.#batches) pending += batch.sizeBytes;
    if (pending + bytes > maxPendingBytes)
      throw new OrielError(
        "OVERLOADED",
        `${pending} bytes of events wait for the store; ${bytes} more would exceed maxPendingBytes, ${maxPendingBytes}`,
        { transient: bytes <= maxPendingBytes },
      );
  }
}

async function all(parts: Promise<CallOutcome>[], total: number): Promise<Recorded> {
  let written = 0;
  let isBuffered = false;
  let isUnknown = false;
  let failure: OrielError | undefined;
  for (const result of await Promise.allSettled(parts)) {
    if (result.status === "fulfilled") written += result.value.count;
    if (result.status === "fulfilled" && result.value.recorded.degraded) isBuffered = true;
    const why = result.status === "fulfilled" ? result.value.refusal : (result.reason as OrielError);
    failure ??= why;
    isUnknown ||= why?.applied === "unknown";
  }
  if (failure === undefined) return isBuffered ? BUFFERED : STORED;
  if (total === 1 || (parts.length === 1 && failure.code !== "LATE" && failure.code !== "EARLY")) throw failure;
  throw new OrielError(failure.code, `${written} of ${total} events were written: ${failure.message}`, {
    cause: failure,
    transient: failure.transient,
    applied: written > 0 || isUnknown ? "unknown" : "no",
  });
}

/** To a multiple of 1 / `unitsPerOne`. Numbers so large that they have no such fractions, and NaN, stay as they are. */
export function rounded(value: number, unitsPerOne: number): number {
  const units = Math.round(value * unitsPerOne);
  // Without -0, which no rounding should make.
  return Number.isSafeInteger(units) ? (units + 0) / unitsPerOne : value;
}
