import { OrielError } from "../../../base/errors.ts";
import type { Site } from "../../../base/site.ts";
import type { Store } from "../../../store/contract.ts";
import { constants } from "../../journal/format/constants.ts";
import type { ServerTime } from "../../journal/replica/last-seen.ts";
import { answerAll, type PendingQuery, type WindowView } from "../pending-query.ts";
import { outOfTime } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { Batch } from "./batch.ts";
import type { JournalView } from "./journal-view.ts";
import type { OfflineBuffer } from "./offline-buffer.ts";
import type { CommitFailure, Session } from "./session.ts";

const NEVER_REACHED = "events recorded before the first contact with the store have no time of its clock";
const EXPIRED = "events became older than the retention while the store was unreachable";

/**
 * The session while the store is unreachable, with `onStoreError: "local"`. It answers at once, from the copy and the
 * buffered events, and buffers new events. Results say `degraded` by "local".
 *
 * The store must never count an event twice. The buffer therefore never sends
 *   - events of an append that may have been applied (`applied` "unknown"),
 *   - events recorded before the first contact with the store, because they have no time of its clock (`applied` "no").
 * Their number is reported as lost. They count in this process's answers until the store is back.
 */
export class OfflineSession implements Session {
  readonly buffer: OfflineBuffer;
  readonly #store: Store;
  readonly #site: Site;
  readonly #settings: SeriesSettings;
  readonly #time: ServerTime;
  readonly #copy: JournalView;
  #cause: unknown;
  #isOffline = false;
  #nowMs = Number.NEGATIVE_INFINITY;
  /** Buffered events without a server time that are not reported yet. */
  #untimedCount = 0;

  constructor(
    store: Store,
    site: Site,
    settings: SeriesSettings,
    time: ServerTime,
    copy: JournalView,
    buffer: OfflineBuffer,
  ) {
    this.#store = store;
    this.#site = site;
    this.#settings = settings;
    this.#time = time;
    this.#copy = copy;
    this.buffer = buffer;
  }

  get isOffline(): boolean {
    return this.#isOffline;
  }

  /** `cause`: the store's last failure. */
  enter(cause: unknown): void {
    this.#cause = cause;
    this.#isOffline = true;
    this.#store.goesOnWithout?.(`${this.#site.name} keeps its events in this process and answers from them`, cause);
  }

  /** The store is back. */
  leave(): void {
    this.#isOffline = false;
    this.#nowMs = Number.NEGATIVE_INFINITY;
    this.buffer.dropUncertain();
    this.#reportUntimed();
  }

  /** The current time of the series, estimated in this process. It does not fall while offline. */
  nowMs(): number {
    const serverMs = this.#time.roughMs();
    const { latestMs } = this.#copy;
    const eventMs = Math.max(latestMs, this.buffer.latestMs);
    const isOfEvents = this.#settings.clock === 1 && eventMs > Number.NEGATIVE_INFINITY;
    const nowMs = isOfEvents ? eventMs : Math.max(serverMs, latestMs);
    if (!this.#isOffline) return nowMs;
    this.#nowMs = Math.max(this.#nowMs, nowMs);
    return this.#nowMs;
  }

  async commit(batch: Batch | undefined, queries: readonly PendingQuery[]): Promise<undefined> {
    this.takeOver({ error: this.#cause, batch, queries }, this.nowMs(), false);
  }

  /**
   * Buffers a batch whose undated events were recorded at `atMs`, and answers queries. `mayBeApplied`: the store may have
   * the events.
   */
  takeOver({ batch, queries }: CommitFailure, atMs: number, mayBeApplied: boolean): void {
    this.reportExpired(this.buffer.dropBefore(this.#earliestMs()));
    batch?.buffer((values, times) => {
      if (times) checkTimes(times, this.#time.roughMs(), this.#earliestMs(), mayBeApplied);
      // Before the first contact, undated events have a time of this process's clock, which the store must not get.
      const isTimed = times !== undefined || this.#time.isKnown;
      this.buffer.add(values, times ?? atMs, isTimed && !mayBeApplied, mayBeApplied);
      if (mayBeApplied) this.reportLost(values.length, this.#cause);
      else if (!isTimed) this.#untimedCount += values.length;
    });
    const answerable: PendingQuery[] = [];
    for (const query of queries)
      if (query.reportsDegraded) answerable.push(query);
      else query.fail(this.#cause);
    answerAll(answerable, this.#view(), this.nowMs());
  }

  /** Drops the buffer because of `why` and reports its events as lost. */
  abandon(why: string): void {
    this.#reportUntimed();
    if (this.buffer.unsentCount > 0) this.reportLost(this.buffer.unsentCount, new OrielError("UNAVAILABLE", why));
  }

  /** Reports that `count` events will never be in the store. */
  reportLost(count: number, error: unknown): void {
    this.#store.report?.({ error: this.#site.error("record", error) as OrielError, count });
  }

  reportExpired(count: number): void {
    if (count > 0) this.reportLost(count, new OrielError("LATE", EXPIRED));
  }

  #reportUntimed(): void {
    if (this.#untimedCount === 0) return;
    this.reportLost(this.#untimedCount, new OrielError("UNAVAILABLE", NEVER_REACHED, { cause: this.#cause }));
    this.#untimedCount = 0;
  }

  #earliestMs(): number {
    return this.nowMs() - this.#settings.retentionMs;
  }

  /** The copy and the buffered events together. */
  #view(): WindowView {
    return {
      collect: (fold, fromMs, toMs, closed) => {
        this.#copy.collect(fold, fromMs, toMs, closed);
        this.buffer.collect(fold, fromMs, toMs, closed);
      },
      fold: (fromMs, toMs, closed) => {
        const fold = this.#copy.fold(fromMs, toMs, closed);
        this.buffer.collect(fold, fromMs, toMs, closed);
        return fold;
      },
      valuesInside: () => {
        throw this.#cause;
      },
      degradedBy: () => "local",
    };
  }
}

/**
 * Refuses events that the store would refuse, by this process's estimate of the server's time. The estimate may be wrong.
 * With `mayBeApplied`, the store may therefore have a refused event.
 */
function checkTimes(times: Float64Array, serverMs: number, fromMs: number, mayBeApplied: boolean): void {
  const applied = mayBeApplied ? "unknown" : "no";
  for (const atMs of times) {
    if (atMs - serverMs > constants.earlyMs) throw outOfTime("EARLY", atMs, applied);
    if (atMs < fromMs) throw outOfTime("LATE", atMs, applied);
  }
}
