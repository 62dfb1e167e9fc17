import { corruptError, OrielError } from "../../../base/errors.ts";
import type { Clock, Closed } from "../../../base/time.ts";
import type { Store } from "../../../store/contract.ts";
import { isUnchanged, type JournalAnswer, type Known } from "../../journal/format/answer.ts";
import { checkKind, degradedOf, needsOlder, seriesNowMs } from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";
import { JournalRolledBack } from "../../journal/format/journal-rolled-back.ts";
import type { Account } from "../../journal/replica/idle-packing.ts";
import { JournalCopy } from "../../journal/replica/journal-copy.ts";
import { type JournalReader, WindowTooLarge } from "../../journal/replica/journal-reader.ts";
import { Age, type Instant, Rollbacks } from "../../journal/replica/last-seen.ts";
import { Residents } from "../../journal/replica/residents.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { Column } from "../../kernel/contract.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import { valuesInside } from "../../stats/values.ts";
import { type FoldedWindow, WindowFolds } from "../../stats/window-folds.ts";
import type { WindowQuery } from "../../stats/window-query.ts";
import type { Degraded, Fold, WindowAggregates } from "../../stats/window-stats.ts";
import { type AskedQuery, answerAll, lookbackOf, type PendingQuery, type WindowView } from "../pending-query.ts";
import { afterRecording, isStoreFault, tooLarge } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import { givenUpkeep } from "./given-upkeep.ts";
import type { OfflineBuffer } from "./offline-buffer.ts";
import type { Held } from "./query-plan.ts";
import type { CommitFailure } from "./session.ts";

/** If the frame names of many producers take more than this share of a copy's bound, the copy is not cached. */
const MAX_NAMES_SHARE = 0.5;

/** A read restarts this often while the journal changes under it. Then it fails. */
const MAX_RESTARTS = 8;

/** This process's copy of the journal at one cut. Queries are answered from it. */
export class JournalView implements WindowView {
  readonly age: Age;
  readonly rollbacks = new Rollbacks();
  readonly copy = new JournalCopy();
  readonly #key: string;
  readonly #reader: JournalReader;
  readonly #settings: SeriesSettings;
  readonly #monotonic: Clock;
  readonly #upkeep = givenUpkeep();
  readonly #folds = new WindowFolds(this.#upkeep && new this.#upkeep.WindowIndex());
  readonly #residents: Residents;
  readonly #account: Account;
  readonly #buffer: OfflineBuffer | undefined;
  #isDropped = false;
  #cut: JournalAnswer | undefined;

  /** `buffer`: events of this process that the store may lack. */
  constructor(store: Store, key: string, settings: SeriesSettings, reader: JournalReader, buffer?: OfflineBuffer) {
    this.#key = key;
    this.#reader = reader;
    this.#settings = settings;
    this.#buffer = buffer;
    this.#monotonic = store.monotonic;
    this.age = new Age(store.monotonic);
    this.#residents = Residents.of(store, this.#upkeep?.IdlePacking);
    this.#account = this.#residents.open(this, settings.maxResidentBytes);
  }

  /** What this process has of the open chunk. The next request sends it along. */
  get known(): Known | undefined {
    const { tail } = this.copy;
    return tail && this.copy.knownOf(tail);
  }

  clear(): void {
    this.evict();
    this.#residents.settle(this.#account, 0);
  }

  evict(): void {
    this.age.forget();
    this.copy.clear();
    this.#folds.clear();
  }

  /** Drops the copy when it is released. One more answer compares it with the journal, and reports what a failover took. */
  dropAfterUse(): void {
    this.#isDropped = true;
  }

  /** Packs a part of the copy, and drops what queries have computed. Returns its size, or undefined if all is packed. */
  packNext(): number | undefined {
    if (!this.#upkeep || !this.copy.packNext(this.#upkeep.PackedEvents)) return undefined;
    this.#folds.clear();
    return this.copy.sizeBytes;
  }

  /** Protects the copy from eviction while it is being updated or read. Ends with `release`. */
  hold(): void {
    this.#account.held++;
  }

  release(): void {
    if (--this.#account.held > 0) return;
    const { maxResidentBytes } = this.#settings;
    if (this.#isDropped || this.copy.nameBytes > MAX_NAMES_SHARE * maxResidentBytes) this.evict();
    this.#isDropped = false;
    this.#residents.settle(this.#account, this.copy.sizeBytes + this.#folds.sizeBytes);
  }

  /** Why a window from `fromMs` lacks events that this process has seen; undefined if it lacks none. */
  missingReason(fromMs: number): Degraded | undefined {
    if (this.rollbacks.affects(fromMs)) return "lost";
    return this.#buffer?.reaches(fromMs) ? "local" : undefined;
  }

  /**
   * Updates the copy to the cut and answers the queries. `asked`: a time before the cut. Never rejects: errors go to the
   * queries, except that with `onStoreError: "local"` a failure of the store is returned with the queries it leaves open. Without it,
   * statistics of windows that are too large for a copy are returned so, because outlines may answer them.
   */
  async answer(
    cut: JournalAnswer,
    queries: readonly PendingQuery[],
    asked: Instant,
  ): Promise<CommitFailure | undefined> {
    try {
      await this.#catchUp(cut, queries, asked);
    } catch (error) {
      return this.#fail(error, queries);
    }
    answerAll(queries, this, this.nowMs);
    return undefined;
  }

  /** Answers from the copy without a request, if the copy is young enough for the query and goes back far enough. */
  answerCached(query: PendingQuery): boolean {
    if (!this.isYoungFor(query.window)) return false;
    this.hold();
    answerAll([query], this, this.nowMs);
    this.release();
    return true;
  }

  /** The copy is young enough for the query and goes back far enough. */
  isYoungFor(window: WindowQuery): boolean {
    const { maxAgeMs } = window;
    return maxAgeMs > 0 && this.age.ms <= maxAgeMs && this.#covers(window);
  }

  /** The part of the windows of these queries that the copy has. */
  heldFor(queries: readonly AskedQuery[]): Held {
    const reachMs = queries.reduce((farthest, { window: { atMs, spanMs } }) => {
      const agoMs = atMs === undefined || !this.#cut ? 0 : Math.max(0, this.nowMs - atMs);
      return Math.max(farthest, agoMs + spanMs);
    }, 0);
    return { nowMs: this.#monotonic(), reachMs, heldShare: this.#shareOf(reachMs, queries), ageMs: this.age.ms };
  }

  #shareOf(reachMs: number, queries: readonly AskedQuery[]): number {
    if (this.known === undefined) return 0;
    if (queries.every(({ window }) => this.#covers(window))) return 1;
    return Math.min(1, Math.max(0, (this.nowMs - this.copy.head!.header.createdMs) / reachMs));
  }

  /** The copy goes back far enough for the query. */
  #covers(window: WindowQuery): boolean {
    const { head, isFirstKnown: noOlder } = this.copy;
    return !head || noOlder || !needsOlder(head.header, this.#fromMs({ window }));
  }

  async #fail(cause: unknown, queries: readonly PendingQuery[]): Promise<CommitFailure | undefined> {
    if (this.#isHandedOver(cause)) return { error: cause, batch: undefined, queries };
    const error = cause instanceof WindowTooLarge ? tooLarge(this.#maxEvents, this.#settings.maxResidentBytes) : cause;
    // After a transient failure the copy is valid as far as it goes. The next read continues it or drops it.
    if (!(error instanceof OrielError && error.transient)) this.evict();
    // The windows that begin earliest are too large. The other queries are answered by a second read.
    const isTooLarge = error instanceof OrielError && error.code === "TOO_LARGE";
    const earliestMs = this.#earliestMs(queries);
    const others = isTooLarge ? queries.filter((query) => this.#fromMs(query) > earliestMs) : [];
    const beyond: PendingQuery[] = [];
    for (const query of queries) {
      if (others.includes(query)) continue;
      if (isTooLarge && query.stats && !this.#settings.isLocalOnError) beyond.push(query);
      else query.fail(query.afterBatch > 0 ? afterRecording(error) : error);
    }
    const failure = await this.#answerOthers(others);
    if (beyond.length === 0) return failure;
    return { error, batch: undefined, queries: [...beyond, ...(failure?.queries ?? [])] };
  }

  async #answerOthers(others: readonly PendingQuery[]): Promise<CommitFailure | undefined> {
    if (others.length === 0) return undefined;
    try {
      const asked = this.age.now();
      return await this.answer(await this.#reader.open(this.known, lookbackOf(others)), others, asked);
    } catch (failure) {
      if (this.#isHandedOver(failure)) return { error: failure, batch: undefined, queries: others };
      for (const query of others) query.fail(failure);
    }
    return undefined;
  }

  #isHandedOver(error: unknown): boolean {
    return this.#settings.isLocalOnError && isStoreFault(error);
  }

  #fromMs({ window }: Pick<AskedQuery, "window">): number {
    return (window.atMs ?? this.nowMs) - window.spanMs;
  }

  #earliestMs(queries: readonly PendingQuery[]): number {
    return queries.reduce((earliest, query) => Math.min(earliest, this.#fromMs(query)), Number.POSITIVE_INFINITY);
  }

  /** The current time of the series: the server's, but not before the last stamp; or the latest event's. */
  get nowMs(): number {
    const { header, nowMs } = this.#cut!;
    return header ? seriesNowMs(header, nowMs) : nowMs;
  }

  /** The copy has all events that were acknowledged before this time of the server. */
  get asOfMs(): number {
    return this.#cut!.nowMs;
  }

  /** The latest time in the copy; -Infinity if it is empty. */
  get latestMs(): number {
    const { tail } = this.copy;
    if (!tail) return Number.NEGATIVE_INFINITY;
    return tail.header.clock === 1 ? tail.header.latestMs : tail.header.lastStampMs;
  }

  collect(fold: Pick<Fold, "add">, fromMs: number, toMs: number, closed: Closed): void {
    for (const segment of this.copy.segments.list) segment.collect(fold, fromMs, toMs, closed);
  }

  fold(fromMs: number, toMs: number, closed: Closed): Fold {
    return this.#folds.runs(this.copy.segments, { fromMs, toMs, closed, endsNow: true });
  }

  stats(window: FoldedWindow): WindowAggregates {
    const roomBytes = this.#settings.maxResidentBytes - this.copy.sizeBytes;
    return this.#folds.stats(this.copy.segments, window, roomBytes);
  }

  valuesInside(fromMs: number, toMs: number, closed: Closed): Column {
    return valuesInside(this.copy.segments.list, this.#settings.valueType, fromMs, toMs, closed);
  }

  degradedBy(fromMs: number): Degraded | undefined {
    const { header, nowMs } = this.#cut!;
    if (!header) return undefined;
    const { isFirstKnown: noOlder } = this.copy;
    const oldest = this.copy.head?.header ?? header;
    const missing = noOlder && oldest.birthBefore !== 0;
    const reachMs = oldest.clock === 1 ? oldest.latestMs : oldest.createdMs;
    return degradedOf({ header, nowMs, missing, coversUntilMs: reachMs }, fromMs, this.missingReason(fromMs));
  }

  async #catchUp(cut: JournalAnswer, queries: readonly PendingQuery[], asked: Instant): Promise<void> {
    this.age.forget();
    const first = cut;
    for (let restart = 0; restart < MAX_RESTARTS; restart++) {
      const begunMs = this.#monotonic();
      this.#cut = cut;
      const needMs = this.#earliestMs(queries);
      try {
        if (cut.header) checkKind(cut.header, this.#settings);
        await this.#reader.follow(this.copy, cut, needMs, this.#settings.maxResidentBytes);
        if (this.#monotonic() - begunMs <= constants.maxReadMs) {
          this.#trim(needMs);
          return this.age.learn(asked);
        }
      } catch (thrown) {
        const error = corruptAt(this.#key, thrown, this.#cut.header?.number);
        // A change between two pages can look like damage. Real damage is still there at the second reading.
        const looksDamaged = restart === 0 && error instanceof OrielError && error.code === "CORRUPT";
        if (!(error instanceof JournalRolledBack) && !looksDamaged) throw error;
        if (error instanceof JournalRolledBack && error.isLoss && this.copy.tail)
          this.rollbacks.reportLoss(this.copy.tail.header);
        this.evict();
      }
      asked = this.age.now();
      const before = this.rollbacks.seen;
      cut = await this.#reader.open(this.known, lookbackOf(queries));
      this.rollbacks.see(cut, before);
    }
    if (isUnchanged(cut, first)) throw corruptError(this.#key, "its chunks do not fit together");
    throw new OrielError("LOST", "the series kept changing while it was read", { transient: true });
  }

  /** Drops chunks that no window within the retention needs. Above the bound, drops chunks that this window does not need. */
  #trim(needMs: number): void {
    const { chunks } = this.copy;
    const { length } = chunks;
    while (this.#isSpare(Math.min(needMs, this.nowMs - this.#settings.retentionMs))) this.copy.dropHead();
    const { maxResidentBytes } = this.#settings;
    let isTooLarge = this.copy.exceeds(maxResidentBytes);
    for (; isTooLarge && this.#isSpare(needMs); isTooLarge = this.copy.exceeds(maxResidentBytes)) this.copy.dropHead();
    if (chunks.length < length) this.#folds.release();
    if (isTooLarge) throw new WindowTooLarge();
  }

  /** Whether the oldest chunk has no event inside a window from `fromMs`. */
  #isSpare(fromMs: number): boolean {
    const next = this.copy.chunks[1];
    return next !== undefined && !needsOlder(next.header, fromMs);
  }

  get #maxEvents(): number {
    return Math.floor(this.#settings.maxResidentBytes / bytesPerEvent(this.#settings.valueType));
  }
}
