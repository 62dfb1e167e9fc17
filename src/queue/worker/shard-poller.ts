import { atTurnsEnd, gathering } from "../../base/async/gathering.ts";
import type { Timers } from "../../base/async/timers.ts";
import { OrielError } from "../../base/errors.ts";
import { MAX_BYTES } from "../../generated/layouts/queue.ts";
import type { Store } from "../../store/contract.ts";
import { channelOf } from "../format/layout.ts";
import {
  type Claim,
  type ExhaustedMessage,
  type SettleAndClaimResult,
  type Settlement,
  type SettleStatus,
  settleAndClaim,
} from "../steps/settle-and-claim.ts";

/** Maximum settlements and claims of one step. Such a step occupies the server for about 5 ms. */
export const MAX_PER_REQUEST = 256;
/** Checks the shard about this often even without a hint, because hints can be lost. */
const SAFETY_MS = 7500;
/** The same where the server sends no hints. */
const HINTLESS_MS = 5000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2000;
/** Workers that find no message wait up to this long before they ask for the next one. */
const MAX_HERD_MS = 8;
/** Concurrent requests while more messages are due, so that server and process work in parallel. */
const MAX_IN_FLIGHT = 2;

export interface ShardPollerOptions {
  store: Store;
  key: string;
  layout: string;
  visibilityMs: number;
  dedupeMs: number;
  timers: Timers;
  /** How many messages one of `requests` requests may claim now. They are returned with `release`. */
  reserve(requests: number): number;
  release(count: number): void;
  onClaims(claims: readonly Claim[], answer: SettleAndClaimResult, sentAtMs: number): void;
  onExhausted(exhausted: readonly ExhaustedMessage[]): void;
  /** `isRetry`: an earlier call, whose answer was lost, may have delivered this result. */
  onSettled(settlement: Settlement, status: SettleStatus, isRetry: boolean): void;
  /** A request has ended and its reservation is free. */
  onPolled(): void;
  onError(error: unknown): void;
}

interface PendingSettlement {
  settlement: Settlement;
  isRetry: boolean;
}

/**
 * Sends settlements to one shard and claims messages from it, in one request. One request runs at a time, or two while
 * more messages are due than were claimed. A request is sent when there are settlements, or when there is room and a
 * message may be due. Each answer reports when the next message is due. A published hint announces an earlier one, and a
 * safety check runs every 7.5 s, and every 5 s where there are no hints. It does not poll at short intervals.
 */
export class ShardPoller {
  readonly #options: ShardPollerOptions;
  #settlements: PendingSettlement[] = [];
  #inFlight = 0;
  /** The last request claimed its maximum, so more messages may be due. */
  #isBusy = false;
  #isClaiming = true;
  /** When a message may be due, by the monotonic clock. */
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #safetyAtMs = Number.POSITIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** The server's time minus the local monotonic time; NaN until known. */
  #aheadMs = Number.NaN;
  /** The earliest hint since the running requests were sent, by the server's clock. */
  #hintMs = Number.POSITIVE_INFINITY;
  #herdMs = 0;
  #failures = 0;
  #cancelTimer: (() => void) | undefined;
  readonly #unsubscribe: (() => void) | undefined;
  #isScheduled = false;
  #isGathering = false;

  constructor(options: ShardPollerOptions) {
    this.#options = options;
    const { store, key } = options;
    this.#unsubscribe = store.subscribe?.(channelOf(key), (message) => this.#onMessage(message));
  }

  /** Whether there may be due messages that nobody has claimed. */
  get mayBeDue(): boolean {
    return this.#options.store.leaseClock() >= this.#nextAtMs;
  }
  /** Whether this shard would claim messages if there were room. */
  get mayClaim(): boolean {
    const isPaused = this.#options.store.leaseClock() < this.#pausedUntilMs;
    return this.#isClaiming && this.#inFlight < this.#maxInFlight && !isPaused && this.mayBeDue;
  }
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#settlements.length === 0;
  }
  get failures(): number {
    return this.#failures;
  }
  get #maxInFlight(): number {
    return this.#isBusy ? MAX_IN_FLIGHT : 1;
  }

  /** Adds a settlement. It is sent with the others of this turn of the event loop, or at once if there is room. */
  submit(settlement: Settlement, isUrgent: boolean): void {
    this.#settlements.push({ settlement, isRetry: false });
    if (isUrgent) {
      if (!this.#isGathering) gathering().then(this.#pumpGathered);
      this.#isGathering = true;
    } else {
      if (!this.#isScheduled) setTimeout(this.#pumpScheduled, 0);
      this.#isScheduled = true;
    }
  }

  readonly #pumpGathered = () => {
    this.#isGathering = false;
    this.pump();
  };
  readonly #pumpScheduled = () => {
    this.#isScheduled = false;
    this.pump();
  };
  readonly #pump = () => this.pump();
  readonly #pumpBeside = () => this.pump(true);

  /**
   * Sends a request if there is work, or sleeps until there may be. `isBeside`: may also send a request without settlements
   * beside a running one. It starts later and is answered later, so the two do not run in step.
   */
  pump(isBeside = false): void {
    if (this.#inFlight >= this.#maxInFlight) return;
    const nowMs = this.#options.store.leaseClock();
    if (nowMs < this.#pausedUntilMs) {
      this.#sleepUntil(this.#pausedUntilMs);
      return;
    }
    const hasSettlements = this.#settlements.length > 0;
    if (this.#inFlight > 0 && !hasSettlements && !isBeside) return;
    const isDue = nowMs >= this.#nextAtMs || nowMs >= this.#safetyAtMs;
    const mayClaim = this.#isClaiming && (isDue || hasSettlements);
    const limit = mayClaim ? this.#options.reserve(this.#maxInFlight) : 0;
    if (limit > 0 || hasSettlements) {
      this.#poll(limit).catch(this.#options.onError);
      if (this.#inFlight < this.#maxInFlight) atTurnsEnd(this.#pumpBeside);
    } else if (this.#isClaiming && !isDue) this.#sleepUntil(Math.min(this.#nextAtMs, this.#safetyAtMs));
  }

  /** Stops claiming. Settlements are still sent. */
  stopClaiming(): void {
    this.#isClaiming = false;
    this.#unsubscribe?.();
  }

  close(): void {
    this.stopClaiming();
    this.#cancelTimer?.();
  }

  async #poll(reserved: number): Promise<void> {
    const { store, key, layout, visibilityMs, dedupeMs, release } = this.#options;
    this.#cancelTimer?.();
    if (this.#inFlight++ === 0) this.#hintMs = Number.POSITIVE_INFINITY;
    const submitted = doneFirst(this.#nextSettlements());
    // A lost answer costs one delivery of each message it claimed. After a failure, claim only one message.
    const limit = Math.min(reserved, this.#failures > 0 ? 1 : MAX_PER_REQUEST);
    const sentAtMs = store.leaseClock();
    const settlements = submitted.map(({ settlement }) => settlement);
    const asked = { layout, settlements, dedupeMs, limit, visibilityMs };
    try {
      const answer = await store.run(settleAndClaim, key, asked).catch((error) => this.#fail(submitted, error));
      if (answer) this.#learn(answer, sentAtMs, limit);
      release(reserved);
      if (answer) this.#dispatch(answer, submitted, sentAtMs);
    } finally {
      // Runs in every case: this request has ended.
      this.#inFlight--;
      this.pump();
      this.#options.onPolled();
    }
  }

  /** The results of one request. The step copies at most 1 MiB of messages that come again, or one larger message. */
  #nextSettlements(): PendingSettlement[] {
    let bytes = 0;
    const end = this.#settlements.findIndex(({ settlement }, i) => {
      if (settlement.verb === "again") bytes += settlement.sizeBytes;
      return i === MAX_PER_REQUEST || (i > 0 && bytes > MAX_BYTES);
    });
    return this.#settlements.splice(0, end < 0 ? MAX_PER_REQUEST : end);
  }

  #dispatch(answer: SettleAndClaimResult, submitted: readonly PendingSettlement[], sentAtMs: number): void {
    for (const [i, { settlement, isRetry }] of submitted.entries())
      this.#options.onSettled(settlement, answer.statuses[i]!, isRetry);
    if (answer.exhausted.length > 0) this.#options.onExhausted(answer.exhausted);
    if (answer.claims.length > 0) this.#options.onClaims(answer.claims, answer, sentAtMs);
  }

  #fail(submitted: readonly PendingSettlement[], error: unknown): void {
    this.#failures++;
    this.#isBusy = false;
    const isApplied = !(error instanceof OrielError && error.applied === "no");
    // Do not repeat "release": the returned message may already be claimed again with the same delivery number.
    const again = submitted.filter(({ settlement }) => !isApplied || settlement.verb !== "release");
    const settlements = again.map(({ settlement, isRetry }) => ({ settlement, isRetry: isRetry || isApplied }));
    this.#settlements = [...settlements, ...this.#settlements];
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
    this.#pausedUntilMs = this.#options.store.leaseClock() + pauseMs;
    this.#nextAtMs = Number.NEGATIVE_INFINITY;
    this.#options.onError(error);
  }

  #learn({ nowMs, nextMs, claims }: SettleAndClaimResult, sentAtMs: number, limit: number): void {
    const hereMs = this.#options.store.leaseClock();
    this.#failures = 0;
    this.#isBusy = claims.length > 0 && claims.length === limit;
    // The server reports whole ms, so its time may be up to one ms later.
    this.#aheadMs = nowMs - (sentAtMs + hereMs) / 2;
    if (claims.length > 0) this.#herdMs = 0;
    else if (limit > 0) this.#herdMs = Math.min(MAX_HERD_MS, this.#herdMs * 2 || 0.5);
    this.#nextAtMs = Math.min(nextMs, this.#hintMs) - this.#aheadMs;
    if (this.#nextAtMs > hereMs) this.#nextAtMs += Math.random() * this.#herdMs;
    const safetyMs = this.#options.store.subscribe ? SAFETY_MS : HINTLESS_MS;
    this.#safetyAtMs = hereMs + safetyMs * (0.8 + 0.4 * Math.random());
  }

  /** `message`: when a message is due, by the server's clock. Undefined: hints may have been missed. */
  #onMessage(message?: string): void {
    const dueMs = message ? Number(message) : 0;
    if (!(dueMs < this.#hintMs)) return;
    this.#hintMs = dueMs;
    const atMs = Number.isNaN(this.#aheadMs) ? Number.NEGATIVE_INFINITY : dueMs - this.#aheadMs;
    this.#nextAtMs = Math.min(this.#nextAtMs, atMs);
    this.pump();
  }

  #sleepUntil(atMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.timers.after(Math.max(0, atMs - this.#options.store.leaseClock()), this.#pump);
  }
}

function doneFirst(submitted: readonly PendingSettlement[]): PendingSettlement[] {
  const isDone = ({ settlement }: PendingSettlement) => settlement.verb === "done";
  return [...submitted.filter(isDone), ...submitted.filter((each) => !isDone(each))];
}
