import { argumentError, OrielError } from "../base/errors.ts";
import { settingsOf } from "../base/options.ts";
import type { Site } from "../base/site.ts";
import { TRY_LOCK, type TryLockOptions } from "./lock-options.ts";

/** A checked call of `tryLock`. */
export interface HoldRequest {
  leaseMs: number;
  waitMs: number;
  signal: AbortSignal | undefined;
  /** True if the hold is renewed until its release. */
  isWatched: boolean;
  /** Of several locks, the name of the one that was not free. Set when the hold is null. */
  notFree?: string;
}

/** A hold of locks or permits. */
export interface Releasable {
  readonly leftMs: number;
  release(): Promise<boolean>;
}

/**
 * Runs `fn` under a hold, and releases it. Rejects with LOST, which has the result of `fn`, if the hold was no longer the
 * caller's when `fn` had ended. If it is unknown what became of the release, the lease decides, by the clock.
 */
export async function whileHeld<Held extends Releasable, T>(
  held: Held,
  fn: (held: Held) => T | Promise<T>,
  site: Site,
  operation: string,
): Promise<T> {
  let result: T;
  try {
    result = await fn(held);
  } catch (error) {
    await held.release().catch(() => false);
    throw error;
  }
  const isProven = held.leftMs > 0;
  if (await held.release().catch(() => isProven)) return result;
  const why =
    "the hold was lost before the function had ended, and another one may have had it; `error.result` is the result";
  throw site.error(operation, new OrielError("LOST", why, { applied: "unknown", result }));
}

/** `tryLock` and `withLock` of every kind of lock, around its own way to get a hold. */
export class LockCalls<Held extends Releasable> {
  readonly #at: Site;
  readonly #prefix: string;
  readonly #watchdogLeaseMs: number;
  readonly #hold: (request: HoldRequest) => Promise<Held | null>;

  /** `prefix` precedes the name of the method in errors. */
  constructor(at: Site, watchdogLeaseMs: number, hold: (request: HoldRequest) => Promise<Held | null>, prefix = "") {
    this.#at = at;
    this.#watchdogLeaseMs = watchdogLeaseMs;
    this.#hold = hold;
    this.#prefix = prefix;
  }

  tryLock(options: TryLockOptions = {}): Promise<Held | null> {
    return this.#at.run(`${this.#prefix}tryLock`, async () => this.#hold(this.#requestOf(options)));
  }

  async withLock<T>(fn: (held: Held) => T | Promise<T>, options: TryLockOptions = {}): Promise<T> {
    const held = await this.#at.run(`${this.#prefix}withLock`, async () => {
      if (typeof fn !== "function") throw argumentError("fn", fn, "a function");
      const request = this.#requestOf(options, 10_000);
      const acquired = await this.#hold(request);
      if (acquired) return acquired;
      const which = request.notFree === undefined ? "the lock" : `the lock "${request.notFree}"`;
      const text = `${which} was not free within ${request.waitMs} ms, and the function was not called`;
      throw new OrielError("DEADLINE", text, { transient: true, applied: "no" });
    });
    return whileHeld(held, fn, this.#at, `${this.#prefix}withLock`);
  }

  #requestOf(options: TryLockOptions, absentMs = 0): HoldRequest {
    const { waitMs, leaseMs, signal } = settingsOf(TRY_LOCK, options);
    signal?.throwIfAborted();
    const isWatched = leaseMs === null;
    return { leaseMs: leaseMs ?? this.#watchdogLeaseMs, waitMs: waitMs ?? absentMs, signal, isWatched };
  }
}
