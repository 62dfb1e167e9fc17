import { atTurnsEnd, gathering } from "../../async/gathering.ts";
import { OrielError } from "../../errors.ts";
import type { Store } from "../../store/contract.ts";
import { channelOf } from "../format/layout.ts";
import type { Claim, Died, Fate, Result, Turned } from "../steps/exchange.ts";
import { turn } from "../steps/turn.ts";
import type { Timers } from "../timers.ts";

/** Maximum results and claims of one step. Such a step occupies the server for about 5 ms. */
export const MOST_A_TURN = 256;
/** Checks the shard about this often even without a hint, because hints can be lost. */
const SAFETY_MS = 5000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
/** When many workers wait for the same message, the late ones wait up to this long before they ask for the next one. */
const LONGEST_HERD_MS = 8;
/** Concurrent turns while more messages are due, so that server and process work in parallel. */
const MOST_UNDER_WAY = 2;

export interface TurnsOptions {
  store: Store;
  key: string;
  layout: string;
  visibilityMs: number;
  dedupeMs: number;
  timers: Timers;
  /** How many messages one of `turns` turns may claim now. They are returned with `release`. */
  reserve(turns: number): number;
  release(count: number): void;
  onClaims(claims: readonly Claim[], turned: Turned, sentAtMs: number): void;
  onDied(died: readonly Died[]): void;
  /** `isAgain`: an earlier call, whose answer was lost, may have delivered this result. */
  onFate(result: Result, fate: Fate, isAgain: boolean): void;
  /** A turn has ended and its reservation is free. */
  onTurned(): void;
  onError(error: unknown): void;
}

interface Brought {
  result: Result;
  isAgain: boolean;
}

/**
 * Delivers results to one shard and claims messages from it. One turn runs at a time, or two while more messages are
 * due than were claimed. A turn starts when there are results, or when there is room and a message may be due. The last
 * turn reports when the next message is due; a hint announces an earlier one; a safety check runs every 5 s. There is
 * no polling.
 */
export class ShardTurns {
  readonly #options: TurnsOptions;
  #results: Brought[] = [];
  #underWay = 0;
  /** The last turn claimed its maximum, so more messages may be due. */
  #isBusy = false;
  #isClaiming = true;
  /** When a message may be due, by the monotonic clock. */
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #safetyAtMs = Number.POSITIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** The server's time minus the local monotonic time; NaN until known. */
  #aheadMs = Number.NaN;
  /** The earliest hint since the running turns were sent, by the server's clock. */
  #hintMs = Number.POSITIVE_INFINITY;
  #herdMs = 0;
  #failures = 0;
  #cancelTimer: (() => void) | undefined;
  readonly #unsubscribe: (() => void) | undefined;
  #isScheduled = false;
  #isGathering = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
    const { store, key } = options;
    this.#unsubscribe = store.subscribe?.(channelOf(key), (message) => this.#hear(message));
  }

  /** Whether there may be due messages that nobody has claimed. */
  get mayBeDue(): boolean {
    return this.#options.store.leaseClock() >= this.#nextAtMs;
  }
  /** Whether this shard would claim messages if there were room. */
  get mayClaim(): boolean {
    const isPaused = this.#options.store.leaseClock() < this.#pausedUntilMs;
    return this.#isClaiming && this.#underWay < this.#mostUnderWay && !isPaused && this.mayBeDue;
  }
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#results.length === 0;
  }
  get failures(): number {
    return this.#failures;
  }
  get #mostUnderWay(): number {
    return this.#isBusy ? MOST_UNDER_WAY : 1;
  }

  /** Adds a result. It is sent with the other results of this turn of the event loop, or at once if there is room. */
  bring(result: Result, isUrgent: boolean): void {
    this.#results.push({ result, isAgain: false });
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
   * Starts a turn if there is work, or sleeps until there may be. `isBeside`: may also start a turn without results
   * beside a running one. Because it starts later it is answered later, so the two do not run in step.
   */
  pump(isBeside = false): void {
    if (this.#underWay >= this.#mostUnderWay) return;
    const nowMs = this.#options.store.leaseClock();
    if (nowMs < this.#pausedUntilMs) {
      this.#sleepUntil(this.#pausedUntilMs);
      return;
    }
    const hasResults = this.#results.length > 0;
    if (this.#underWay > 0 && !hasResults && !isBeside) return;
    const isDue = nowMs >= this.#nextAtMs || nowMs >= this.#safetyAtMs;
    const mayClaim = this.#isClaiming && (isDue || hasResults);
    const most = mayClaim ? this.#options.reserve(this.#mostUnderWay) : 0;
    if (most > 0 || hasResults) {
      this.#turn(most).catch(this.#options.onError);
      if (this.#underWay < this.#mostUnderWay) atTurnsEnd(this.#pumpBeside);
    } else if (this.#isClaiming && !isDue) this.#sleepUntil(Math.min(this.#nextAtMs, this.#safetyAtMs));
  }

  /** Stops claiming. Results are still sent. */
  stopClaiming(): void {
    this.#isClaiming = false;
    this.#unsubscribe?.();
  }

  close(): void {
    this.stopClaiming();
    this.#cancelTimer?.();
  }

  async #turn(reserved: number): Promise<void> {
    const { store, key, layout, visibilityMs, dedupeMs, release } = this.#options;
    this.#cancelTimer?.();
    if (this.#underWay++ === 0) this.#hintMs = Number.POSITIVE_INFINITY;
    const brought = doneFirst(this.#results.splice(0, MOST_A_TURN));
    // A lost answer costs one delivery of each message it claimed. After a failure, claim only one message.
    const most = Math.min(reserved, this.#failures > 0 ? 1 : MOST_A_TURN);
    const sentAtMs = store.leaseClock();
    const results = brought.map(({ result }) => result);
    const asked = { layout, results, dedupeMs, most, visibilityMs };
    try {
      const turned = await store.run(turn, key, asked).catch((error) => this.#fail(brought, error));
      if (turned) this.#learn(turned, sentAtMs, most);
      release(reserved);
      if (turned) this.#give(turned, brought, sentAtMs);
    } finally {
      // Runs in every case: this turn has ended.
      this.#underWay--;
      this.pump();
      this.#options.onTurned();
    }
  }

  #give(turned: Turned, brought: readonly Brought[], sentAtMs: number): void {
    for (const [i, { result, isAgain }] of brought.entries()) this.#options.onFate(result, turned.fates[i]!, isAgain);
    if (turned.died.length > 0) this.#options.onDied(turned.died);
    if (turned.claims.length > 0) this.#options.onClaims(turned.claims, turned, sentAtMs);
  }

  #fail(brought: readonly Brought[], error: unknown): void {
    this.#failures++;
    this.#isBusy = false;
    const isApplied = !(error instanceof OrielError && error.applied === "no");
    // Do not repeat "back": the returned message may already be claimed again with the same delivery number.
    const again = brought.filter(({ result }) => !isApplied || result.verb !== "back");
    const results = again.map(({ result, isAgain }) => ({ result, isAgain: isAgain || isApplied }));
    this.#results = [...results, ...this.#results];
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
    this.#pausedUntilMs = this.#options.store.leaseClock() + pauseMs;
    this.#nextAtMs = Number.NEGATIVE_INFINITY;
    this.#options.onError(error);
  }

  #learn({ nowMs, nextMs, claims }: Turned, sentAtMs: number, most: number): void {
    const hereMs = this.#options.store.leaseClock();
    this.#failures = 0;
    this.#isBusy = claims.length > 0 && claims.length === most;
    // The server reports whole ms, so its time may be up to one ms later.
    this.#aheadMs = nowMs - (sentAtMs + hereMs) / 2;
    if (claims.length > 0) this.#herdMs = 0;
    else if (most > 0) this.#herdMs = Math.min(LONGEST_HERD_MS, this.#herdMs * 2 || 0.5);
    this.#nextAtMs = Math.min(nextMs, this.#hintMs) - this.#aheadMs;
    if (this.#nextAtMs > hereMs) this.#nextAtMs += Math.random() * this.#herdMs;
    this.#safetyAtMs = hereMs + SAFETY_MS * (0.8 + 0.4 * Math.random());
  }

  /** `message`: when a message is due, by the server's clock. Undefined: hints may have been missed. */
  #hear(message?: string): void {
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

function doneFirst(brought: readonly Brought[]): Brought[] {
  const isDone = ({ result }: Brought) => result.verb === "done";
  return [...brought.filter(isDone), ...brought.filter((each) => !isDone(each))];
}
