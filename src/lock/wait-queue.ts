import { endsWithRequest } from "../async/of-request.ts";
import { idleTimeout, timerMs } from "../async/timers.ts";
import { FOREIGN_POLL_MS, PLACE_LIFE_MS } from "../generated/layouts/lock.ts";
import type { Store } from "../store/contract.ts";
import type { Grant } from "./grant.ts";
import type { HoldSteps } from "./steps/hold-steps.ts";
import { channelOf } from "./steps/keys.ts";
import { leave } from "./steps/leave.ts";
import { FORCED } from "./steps/release.ts";
import { type AcquireRequest, Waiter } from "./waiter.ts";

/** Longest pause after a temporary failure. The shortest is half of it. */
const AFTER_FAILURE_MS = 100;
/** How often in a row a release may pass the lock to the next caller of the same process. */
const MAX_PASSED_ON = 8;
/** A waiter renews its place this often. A lost notice costs at most this time. */
const RENEW_MS = PLACE_LIFE_MS * 0.4;
/** How long the subscription stays when no caller waits any more. */
const LINGER_MS = 5000;

/** The wait queues of each store by key. All locks of one name in a process share one. */
const waitQueues = new WeakMap<Store, Map<string, WaitQueue>>();

/**
 * Returns the wait queue of a lock, or makes it; readers have one of their own. In Workers each caller has its own, because
 * requests end with their work.
 */
function waitQueueOf(steps: HoldSteps, store: Store, key: string): WaitQueue {
  if (endsWithRequest) return new WaitQueue(steps, store, key, () => {});
  const byKey = waitQueues.get(store) ?? new Map<string, WaitQueue>();
  waitQueues.set(store, byKey);
  const known = steps.isShared ? `${key} shared` : key;
  const waitQueue = byKey.get(known) ?? new WaitQueue(steps, store, key, () => byKey.delete(known));
  byKey.set(known, waitQueue);
  return waitQueue;
}

/** Acquires a lock as `request` says. Resolves with null when the wait ends. */
export function grantOf(steps: HoldSteps, store: Store, key: string, request: AcquireRequest): Promise<Grant | null> {
  if (request.waitMs > 0) return waitQueueOf(steps, store, key).enqueue(request);
  const waiter = new Waiter(steps, store, key, request);
  void waiter.tryOnce();
  return waiter.promise;
}

/** Returns who is next after a hold of this process that is about to be released. Call `sent` after sending the release. */
export function beginRelease(store: Store, key: string): { id: string; isNext: boolean; sent(): void } {
  return waitQueues.get(store)?.get(key)?.beginRelease() ?? NO_NEXT;
}

export const NO_NEXT = { id: "", isNext: false, sent() {} };

/**
 * The callers of this process that wait for one lock, in order of arrival. One request at a time is sent for all of them.
 * The first refusal gives the process a place in the shared queue, which it renews. It asks again when it is notified, or
 * when the holder's lease ends according to the last answer.
 *
 *   this process releases the lock         │ ask at once, after the release; every ninth time go to the end of the shared
 *                                          │ queue instead, and wait for a notice
 *   a caller enters an empty queue         │ ask
 *   granted                                │ the caller leaves; ask for the next one at the end of that lease, or at once
 *                                          │ if the hold is shared
 *   refused for n ms                       │ ask again in n ms, or in about 4 s if that is sooner
 *   temporary failure                      │ ask again in 50 to 100 ms
 *   a caller waits without a subscription  │ subscribe
 *   notified, or the subscription begins   │ ask; if a request is under way, ask once more unless it is granted; do nothing
 *                                          │ while a caller of this queue holds the lock, because the notice is old,
 *                                          │ unless an operator has released it
 *   the last caller leaves                 │ give up the place and its reservation
 */
class WaitQueue {
  readonly #steps: HoldSteps;
  readonly #store: Store;
  readonly #key: string;
  readonly #onEmpty: () => void;
  /** The process's id in the shared queue: 16 characters. */
  readonly #id = crypto.randomUUID().replaceAll("-", "").slice(16);
  readonly #waiters = new Set<Waiter>();
  /** Whether the process may have a place in the shared queue. */
  #hasPlace = false;
  #isRequesting = false;
  #isNotified = false;
  #passedOn = 0;
  /** Until this time a caller of this queue certainly holds the lock. */
  #oursUntilMs = Number.NEGATIVE_INFINITY;
  #requestAtMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lingerTimer: ReturnType<typeof setTimeout> | undefined;
  #idleSinceMs = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(steps: HoldSteps, store: Store, key: string, onEmpty: () => void) {
    this.#steps = steps;
    this.#store = store;
    this.#key = key;
    this.#onEmpty = onEmpty;
  }

  /** Resolves with null when the wait ends. Rejects with the signal's reason, or if the last request failed. */
  enqueue(request: AcquireRequest): Promise<Grant | null> {
    if (this.#waiters.size === 0) this.#requestAtMs = Number.NEGATIVE_INFINITY;
    const waiter = new Waiter(this.#steps, this.#store, this.#key, request, this.#id, () => {
      this.#waiters.delete(waiter);
      this.#proceed();
    });
    this.#waiters.add(waiter);
    this.#proceed();
    waiter.startTimer();
    return waiter.promise;
  }

  beginRelease(): { id: string; isNext: boolean; sent(): void } {
    this.#oursUntilMs = Number.NEGATIVE_INFINITY;
    const isNext = this.#waiters.size > 0 && ++this.#passedOn <= MAX_PASSED_ON;
    if (!isNext) this.#passedOn = 0;
    this.#hasPlace ||= this.#waiters.size > 0;
    return { id: this.#waiters.size > 0 ? this.#id : "", isNext, sent: () => isNext && this.#onNotice() };
  }

  #onNotice(message?: string): void {
    if (message === FORCED) this.#oursUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#waiters.size === 0 || this.#store.leaseClock() < this.#oursUntilMs) return;
    this.#isNotified = true;
    this.#proceed();
  }

  #proceed(): void {
    if (this.#isRequesting) return;
    clearTimeout(this.#timer);
    const [first] = this.#waiters;
    if (!first) {
      this.#giveUpPlace();
      this.#idleSinceMs = this.#store.leaseClock();
      this.#lingerTimer ??= this.#linger(LINGER_MS);
      return;
    }
    const dueInMs = this.#requestAtMs - this.#store.leaseClock();
    if (this.#isNotified || dueInMs <= 0) void this.#requestFor(first);
    else this.#timer = setTimeout(() => this.#proceed(), timerMs(dueInMs));
  }

  async #requestFor(waiter: Waiter): Promise<void> {
    this.#isRequesting = true;
    this.#isNotified = false;
    const outcome = await waiter.tryOnce();
    this.#isRequesting = false;
    if (!waiter.isOpen) this.#waiters.delete(waiter);
    let pauseMs: number;
    if ("grant" in outcome) {
      // An earlier notice is old: no other process can have released the lock that this one holds now.
      this.#isNotified = false;
      this.#hasPlace = false;
      pauseMs = 0;
      if (!this.#steps.isShared) {
        this.#oursUntilMs = outcome.grant.provenUntilMs;
        pauseMs = outcome.grant.leaseMs;
      }
    } else if ("retryInMs" in outcome) pauseMs = outcome.retryInMs;
    else pauseMs = AFTER_FAILURE_MS * (0.5 + Math.random() / 2);
    if (!("grant" in outcome)) {
      this.#hasPlace = true;
      pauseMs = Math.min(pauseMs, RENEW_MS * (0.8 + Math.random() * 0.4));
    }
    if (!this.#store.subscribe) pauseMs = Math.min(pauseMs, FOREIGN_POLL_MS);
    this.#requestAtMs = this.#store.leaseClock() + pauseMs;
    if (this.#waiters.size > 0) this.#subscribe();
    this.#proceed();
  }

  #giveUpPlace(): void {
    if (this.#hasPlace) this.#store.run(leave, this.#key, this.#id).catch(() => {});
    this.#hasPlace = false;
  }

  #subscribe(): void {
    this.#unsubscribe ??= this.#store.subscribe?.(channelOf(this.#key, this.#id), (message) => this.#onNotice(message));
  }

  /** Uses one timer, however often the queue becomes empty in this time. */
  #linger(ms: number): ReturnType<typeof setTimeout> {
    return idleTimeout(() => {
      this.#lingerTimer = undefined;
      if (this.#waiters.size > 0) return;
      const leftMs = this.#idleSinceMs + LINGER_MS - this.#store.leaseClock();
      if (leftMs > 0) this.#lingerTimer = this.#linger(Math.ceil(leftMs));
      else this.#close();
    }, ms);
  }

  #close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#onEmpty();
  }
}
