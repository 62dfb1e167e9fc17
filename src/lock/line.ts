import { endsWithRequest } from "../async/of-request.ts";
import { idleTimeout, timerMs } from "../async/timers.ts";
import type { Store } from "../store/contract.ts";
import type { Grant } from "./grant.ts";
import { channelOf } from "./keys.ts";
import { law } from "./law.ts";
import { leave } from "./leave.ts";
import { type Ask, Waiter } from "./waiter.ts";

/** Pause after a failure that may pass, half of it or more. */
const FAILED_MS = 100;
/** A release within the process is followed by the next one's request in the same turn, but not for ever. */
const MOST_HANDED_ON = 8;
/** Who waits asks once in this time, so that its place stands, and no loss of calls costs more. */
const RENEW_MS = law.placeLifeMs * 0.4;
/** How long the channel is still listened to when nobody waits any more. */
const LINGER_MS = 5000;

/** The lines of each store by key: all locks of one name in a process stand in one. */
const lines = new WeakMap<Store, Map<string, Line>>();

/** The line before a lock; made where there is none. In Workers, where who asks for all may be gone, a line for each. */
export function lineOf(store: Store, key: string): Line {
  if (endsWithRequest) return new Line(store, key, () => {});
  const byKey = lines.get(store) ?? new Map<string, Line>();
  lines.set(store, byKey);
  const line = byKey.get(key) ?? new Line(store, key, () => byKey.delete(key));
  byKey.set(key, line);
  return line;
}

/** Who comes after a hold of this process that is about to be released; `sent` is called behind the request. */
export function beginRelease(store: Store, key: string): { id: string; isNext: boolean; sent(): void } {
  return lines.get(store)?.get(key)?.beginRelease() ?? NOBODY;
}

const NOBODY = { id: "", isNext: false, sent() {} };

/**
 * Those of this process who wait for one lock: first come, first served, one request at a time for all of them. The
 * first refusal gives the process its place among the others, which it keeps by asking now and then. Nobody asks again
 * until the process is called, or the holder's lease, as the last answer had it, is over.
 *
 *   released in this process .......................... ask at once, behind the release; each ninth time go to the end
 *                                                       of the others and wait to be called
 *   first in an empty line ............................ ask
 *   answer: granted ................................... it leaves; the next is asked for at the end of that lease
 *           refused for n ms .......................... ask again in n ms, in some 4 s at the latest
 *           failed, and may do better ................. ask again in 50 to 100 ms
 *   somebody waits, and nobody listens ................ subscribe
 *   called, or the subscription stands ................ ask; once more if an answer was awaited then, unless granted;
 *                                                       nothing while one of this line holds the lock: it is old
 *   nobody waits any more ............................. give the place up, and with it a call that comes too late
 */
class Line {
  readonly #store: Store;
  readonly #key: string;
  readonly #onEmpty: () => void;
  /** Of the process's place; 16 characters. */
  readonly #id = crypto.randomUUID().replaceAll("-", "").slice(16);
  readonly #waiters = new Set<Waiter>();
  /** Whether the process may have a place. */
  #stands = false;
  #isAsking = false;
  #isTold = false;
  #handedOn = 0;
  /** Until when one of this line holds the lock for certain. */
  #oursUntilMs = Number.NEGATIVE_INFINITY;
  #askAtMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lingerTimer: ReturnType<typeof setTimeout> | undefined;
  #idleSinceMs = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(store: Store, key: string, onEmpty: () => void) {
    this.#store = store;
    this.#key = key;
    this.#onEmpty = onEmpty;
  }

  /** Null when the wait is over; rejects with the signal's reason, or where the last request failed. */
  join(ask: Ask): Promise<Grant | null> {
    if (this.#waiters.size === 0) this.#askAtMs = Number.NEGATIVE_INFINITY;
    const waiter = new Waiter(this.#store, this.#key, ask, this.#id, () => {
      this.#waiters.delete(waiter);
      this.#look();
    });
    this.#waiters.add(waiter);
    this.#look();
    waiter.rest();
    return waiter.promise;
  }

  beginRelease(): { id: string; isNext: boolean; sent(): void } {
    this.#oursUntilMs = Number.NEGATIVE_INFINITY;
    const isNext = this.#waiters.size > 0 && ++this.#handedOn <= MOST_HANDED_ON;
    if (!isNext) this.#handedOn = 0;
    this.#stands ||= this.#waiters.size > 0;
    return { id: this.#waiters.size > 0 ? this.#id : "", isNext, sent: () => isNext && this.#tell() };
  }

  #tell(): void {
    if (this.#waiters.size === 0 || this.#store.leaseClock() < this.#oursUntilMs) return;
    this.#isTold = true;
    this.#look();
  }

  #look(): void {
    if (this.#isAsking) return;
    clearTimeout(this.#timer);
    const [first] = this.#waiters;
    if (!first) {
      this.#leave();
      this.#idleSinceMs = this.#store.leaseClock();
      this.#lingerTimer ??= this.#linger(LINGER_MS);
      return;
    }
    const dueInMs = this.#askAtMs - this.#store.leaseClock();
    if (this.#isTold || dueInMs <= 0) void this.#askFor(first);
    else this.#timer = setTimeout(() => this.#look(), timerMs(dueInMs));
  }

  async #askFor(waiter: Waiter): Promise<void> {
    this.#isAsking = true;
    this.#isTold = false;
    const outcome = await waiter.ask();
    this.#isAsking = false;
    if (!waiter.isOpen) this.#waiters.delete(waiter);
    let pauseMs: number;
    if ("grant" in outcome) {
      // What was told meanwhile came before: nobody else can have released what we now hold.
      this.#isTold = false;
      this.#oursUntilMs = outcome.grant.provenUntilMs;
      this.#stands = false;
      pauseMs = outcome.grant.leaseMs;
    } else if ("lookAgainMs" in outcome) pauseMs = outcome.lookAgainMs;
    else pauseMs = FAILED_MS * (0.5 + Math.random() / 2);
    if (!("grant" in outcome)) {
      this.#stands = true;
      pauseMs = Math.min(pauseMs, RENEW_MS * (0.8 + Math.random() * 0.4));
    }
    if (!this.#store.subscribe) pauseMs = Math.min(pauseMs, law.strangerMs);
    this.#askAtMs = this.#store.leaseClock() + pauseMs;
    if (this.#waiters.size > 0) this.#listen();
    this.#look();
  }

  #leave(): void {
    if (this.#stands) this.#store.run(leave, this.#key, this.#id).catch(() => {});
    this.#stands = false;
  }

  #listen(): void {
    this.#unsubscribe ??= this.#store.subscribe?.(channelOf(this.#key, this.#id), () => this.#tell());
  }

  /** One timer however often the line becomes empty meanwhile. */
  #linger(ms: number): ReturnType<typeof setTimeout> {
    return idleTimeout(() => {
      this.#lingerTimer = undefined;
      if (this.#waiters.size > 0) return;
      const leftMs = this.#idleSinceMs + LINGER_MS - this.#store.leaseClock();
      if (leftMs > 0) this.#lingerTimer = this.#linger(Math.ceil(leftMs));
      else this.#end();
    }, ms);
  }

  #end(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#onEmpty();
  }
}
