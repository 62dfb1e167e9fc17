import type { Store } from "../store/contract.ts";
import type { Grant } from "./grant.ts";
import { channelOf } from "./keys.ts";
import { law } from "./law.ts";
import { type Ask, Waiter } from "./waiter.ts";

/** Pause after a failure that may pass, half of it or more. */
const FAILED_MS = 100;
/** A release within the process is followed by the next one's request in the same turn, but not for ever. */
const MOST_HANDED_ON = 8;
/** How long the channel is still listened to when nobody waits any more. */
const LINGER_MS = 5000;

/** The lines of each store by key: all locks of one name in a process stand in one. */
const lines = new WeakMap<Store, Map<string, Line>>();

/** The line before a lock; made where there is none. */
export function lineOf(store: Store, key: string): Line {
  const byKey = lines.get(store) ?? new Map<string, Line>();
  lines.set(store, byKey);
  const line = byKey.get(key) ?? new Line(store, key, () => byKey.delete(key));
  byKey.set(key, line);
  return line;
}

/** Tells the line before a lock, if there is one, that a release of this process has been sent. */
export function tellReleased(store: Store, key: string): void {
  lines.get(store)?.get(key)?.released();
}

/**
 * Those of this process who wait for one lock: first come, first served, one request at a time for all of them. Nobody
 * asks again until a release was told, or the holder's lease, as the last answer had it, is over.
 *
 *   released in this process .......................... ask at once, behind the release; each ninth time as if told, so
 *                                                       that other processes have their chance
 *   first in an empty line ............................ ask
 *   answer: granted ................................... it leaves; the next is asked for at the end of that lease
 *           held by another for n ms .................. ask again in n ms
 *           failed, and may do better ................. ask again in 50 to 100 ms
 *   somebody waits, and nobody listens ................ subscribe
 *   a release was told, or the subscription stands .... ask; once more if an answer was awaited then, unless granted;
 *                                                       nothing while one of this line holds the lock: it is old
 */
class Line {
  readonly #store: Store;
  readonly #key: string;
  readonly #onEmpty: () => void;
  readonly #waiters = new Set<Waiter>();
  #isAsking = false;
  #isTold = false;
  #handedOn = 0;
  /** Until when one of this line holds the lock for certain. */
  #oursUntilMs = Number.NEGATIVE_INFINITY;
  #askAtMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(store: Store, key: string, onEmpty: () => void) {
    this.#store = store;
    this.#key = key;
    this.#onEmpty = onEmpty;
  }

  /** Null when the wait is over; rejects with the signal's reason, or where the last request failed. */
  join(ask: Ask): Promise<Grant | null> {
    if (this.#waiters.size === 0) this.#askAtMs = Number.NEGATIVE_INFINITY;
    const waiter = new Waiter(this.#store, this.#key, ask, () => {
      this.#waiters.delete(waiter);
      this.#look();
    });
    this.#waiters.add(waiter);
    this.#look();
    return waiter.promise;
  }

  /** A hold of this process is about to be released: the request to do so goes before what is asked here. */
  released(): void {
    this.#oursUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#waiters.size > 0 && ++this.#handedOn <= MOST_HANDED_ON) this.#tell();
    else this.#handedOn = 0;
  }

  #tell(): void {
    if (this.#waiters.size === 0 || this.#store.monotonic() < this.#oursUntilMs) return;
    this.#isTold = true;
    this.#look();
  }

  #look(): void {
    if (this.#isAsking) return;
    clearTimeout(this.#timer);
    const [first] = this.#waiters;
    if (!first) {
      this.#timer = setTimeout(() => this.#end(), LINGER_MS);
      (this.#timer as { unref?(): unknown }).unref?.();
      return;
    }
    const dueInMs = this.#askAtMs - this.#store.monotonic();
    if (this.#isTold || dueInMs <= 0) void this.#askFor(first);
    else this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(dueInMs), 2 ** 31 - 1));
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
      pauseMs = outcome.grant.leaseMs;
    } else if ("lookAgainMs" in outcome) pauseMs = outcome.lookAgainMs;
    else pauseMs = FAILED_MS * (0.5 + Math.random() / 2);
    if (!this.#store.subscribe) pauseMs = Math.min(pauseMs, law.strangerMs);
    this.#askAtMs = this.#store.monotonic() + pauseMs;
    if (this.#waiters.size > 0) this.#listen();
    this.#look();
  }

  #listen(): void {
    this.#unsubscribe ??= this.#store.subscribe?.(channelOf(this.#key), () => this.#tell());
  }

  #end(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#onEmpty();
  }
}
