import { argumentError } from "../errors.ts";
import type { Place } from "../place.ts";
import { checkOptions, leaseMsOf, type TryLockOptions, waitMsOf } from "./lock-options.ts";

const TRY_OPTIONS = ["wait", "lease", "signal"];

/** A checked call of `tryLock`. */
export interface HoldRequest {
  leaseMs: number;
  waitMs: number;
  signal: AbortSignal | undefined;
  /** True if the hold is renewed until its release. */
  isWatched: boolean;
}

/** `tryLock` and `withLock` of every kind of lock, around its own way to get a hold. */
export class LockCalls<Held extends { release(): Promise<boolean> }> {
  readonly #at: Place;
  readonly #prefix: string;
  readonly #watchdogLeaseMs: number;
  readonly #hold: (request: HoldRequest) => Promise<Held | null>;

  /** `prefix` precedes the name of the method in errors. */
  constructor(at: Place, watchdogLeaseMs: number, hold: (request: HoldRequest) => Promise<Held | null>, prefix = "") {
    this.#at = at;
    this.#watchdogLeaseMs = watchdogLeaseMs;
    this.#hold = hold;
    this.#prefix = prefix;
  }

  tryLock(options: TryLockOptions = {}): Promise<Held | null> {
    return this.#at.run(`${this.#prefix}tryLock`, () => this.#lock(options));
  }

  async withLock<T>(fn: (held: Held) => T | Promise<T>, options: TryLockOptions = {}): Promise<T | null> {
    const held = await this.#at.run(`${this.#prefix}withLock`, () => {
      if (typeof fn !== "function") throw argumentError("fn", fn, "a function");
      checkOptions(options, TRY_OPTIONS);
      return this.#lock({ ...options, wait: options.wait ?? "10s" });
    });
    if (!held) return null;
    try {
      return await fn(held);
    } finally {
      await held.release().catch(() => false);
    }
  }

  async #lock(options: TryLockOptions): Promise<Held | null> {
    checkOptions(options, TRY_OPTIONS);
    const { wait = 0, lease, signal } = options;
    const leaseMs = lease === undefined ? this.#watchdogLeaseMs : leaseMsOf("lease", lease);
    const waitMs = waitMsOf(wait);
    signal?.throwIfAborted();
    return this.#hold({ leaseMs, waitMs, signal, isWatched: lease === undefined });
  }
}
