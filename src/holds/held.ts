import { idleTimeout } from "../base/async/timers.ts";
import { OrielError } from "../base/errors.ts";
import type { Site } from "../base/site.ts";
import type { Clock, Duration } from "../base/time.ts";
import { giveBack } from "./give-backs.ts";
import { leaseMsOf } from "./lock-options.ts";
import { renew } from "./steps/steps.ts";
import { type Grant, leaveHold, provenUntil } from "./waiters.ts";

/** The watchdog renews after a third of the lease, and after a tenth if a renewal failed. */
const RENEWALS_PER_LEASE = 3;
const RETRIES_PER_LEASE = 10;

/** A signal that calls `look` when its state is read. A timer may be late, and the caller's code must not run on before it. */
export function looking(signal: AbortSignal, look: () => void): AbortSignal {
  const { prototype } = AbortSignal; // of happy-dom, it inherits the members
  return Object.defineProperties(signal, {
    aborted: {
      get() {
        look();
        return Reflect.get(prototype, "aborted", signal);
      },
    },
    throwIfAborted: {
      value() {
        look();
        prototype.throwIfAborted.call(signal);
      },
    },
  });
}

/** Ends the renewals of a hold, which then lasts for its lease. For locks that are made of several holds. */
export let stopWatchdog: (held: HeldLock<number | null>) => void;

/**
 * A hold of a lock. This process's clock decides whether it is still held: the lease counts from the moment before the
 * request that got or extended it was sent, less 1 % and 2 ms. Timers and missing answers decide nothing.
 */
export class HeldLock<Fence extends number | null = number> {
  static {
    stopWatchdog = (held) => {
      held.#renewAtMs = Number.POSITIVE_INFINITY;
      held.#isWatched = false;
      held.#arm();
    };
  }

  /**
   * A safe integer, higher than the fence of every earlier hold. Let the storage refuse a write with a lower one. Null for
   * a hold of several servers, which have no common counter, and for a permit of a semaphore.
   */
  readonly fence: Fence;
  readonly #at: Site;
  readonly #source: HoldSource<Fence>;
  /** Made on first use, because few holders use it. */
  #abort: AbortController | undefined;
  #lostBecause: OrielError | undefined;
  /** Of the last extension, if it failed. */
  #renewalError: OrielError | undefined;
  #provenUntilMs: number;
  #renewAtMs = Number.POSITIVE_INFINITY;
  #isWatched: boolean;
  #state: "held" | "released" | "lost" = "held";
  #released: Promise<boolean> | undefined;
  #mayBeFreed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: HoldSource<Fence>, isWatched: boolean, at: Site) {
    this.#at = at;
    this.fence = source.fence;
    this.#source = source;
    this.#provenUntilMs = source.provenUntilMs;
    this.#isWatched = isWatched;
    if (isWatched) this.#renewAtMs = this.#now() + source.leaseMs / RENEWALS_PER_LEASE;
    this.#arm();
  }

  /** Ms for which the hold is still proven. 0 when it is released or lost. */
  get leftMs(): number {
    this.#checkLease();
    return this.#state === "held" ? this.#provenUntilMs - this.#now() : 0;
  }

  /** Aborts with LOST when the hold can no longer be proven. Does not abort after a release. */
  get signal(): AbortSignal {
    this.#checkLease();
    if (!this.#abort) {
      this.#abort = new AbortController();
      looking(this.#abort.signal, () => this.#checkLease());
      this.#arm();
    }
    if (this.#lostBecause && !this.#abort.signal.aborted) this.#abort.abort(this.#lostBecause);
    return this.#abort.signal;
  }

  /** Throws LOST if the hold is no longer proven, or was released. It looks at the clock and sends nothing. */
  assertHeld(): void {
    this.#checkLease();
    if (this.#lostBecause) throw this.#lostBecause;
    if (this.#state === "released") throw this.#at.error("assertHeld", new OrielError("LOST", "it was released"));
  }

  /**
   * Extends the hold to last at least `lease` from now; default: its first lease. Resolves with false if it was released or
   * lost before, or if the server no longer has it; the hold is then lost. Rejects if the store fails; the hold then lasts
   * as long as before.
   */
  extend(lease: Duration = this.#source.leaseMs): Promise<boolean> {
    return this.#at.run("extend", async () => {
      const leaseMs = leaseMsOf(lease);
      if (this.leftMs === 0) return false;
      const provenUntilMs = provenUntil(this.#now(), leaseMs);
      const isHeld = await this.#source.extend(leaseMs).catch((error) => {
        this.#renewalError = error;
        throw error;
      });
      this.#renewalError = undefined;
      this.#checkLease();
      if (this.#state !== "held") return false;
      if (isHeld) this.#provenUntilMs = Math.max(this.#provenUntilMs, provenUntilMs);
      else this.#lose("the server no longer has it: it has expired, was deleted, or was released by force");
      this.#arm();
      return this.leftMs > 0;
    });
  }

  /**
   * Ends the hold and notifies the next waiter. Resolves with true if it was held until now, else false. Further calls
   * have the same result. Rejects if the store fails: the hold then ends with its lease, and another call tries again.
   */
  release(): Promise<boolean> {
    this.#checkLease();
    if (this.#state === "held") this.#state = "released";
    const isLost = this.#state === "lost";
    clearTimeout(this.#timer);
    this.#released ??= this.#at
      .run("release", async () => (await this.#release()) && !isLost)
      .catch((error) => {
        this.#released = undefined;
        throw error;
      });
    return this.#released;
  }

  /** If the reply to the first request was lost, a second one that finds no hold proves that the first has released it. */
  async #release(): Promise<boolean> {
    const send = async () => (await this.#source.release()) || (this.#mayBeFreed && this.#state === "released");
    try {
      return await send();
    } catch (error) {
      if ((error as OrielError).applied !== "unknown") throw error;
      this.#mayBeFreed = true;
      return send().catch((again: OrielError) => {
        throw again.applied === "no" ? error : again; // the first request may have released it
      });
    }
  }

  #now(): number {
    return this.#source.leaseClock();
  }

  #checkLease(): void {
    if (this.#state === "held" && this.#now() >= this.#provenUntilMs) this.#lose("its lease may be over");
  }

  #lose(why: string): void {
    this.#state = "lost";
    clearTimeout(this.#timer);
    const cause = this.#renewalError;
    const because = cause ? `${why} (renewal: ${cause.message})` : why;
    const lost = new OrielError("LOST", `${this.#source.what} is lost: ${because}`, { cause });
    this.#lostBecause = this.#at.error(undefined, lost) as OrielError;
    this.#abort?.abort(this.#lostBecause);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Without a watchdog and without a signal no timer is needed: the state is checked on access.
    if (this.#state !== "held" || (this.#renewAtMs === Number.POSITIVE_INFINITY && !this.#abort)) return;
    const dueInMs = Math.min(this.#provenUntilMs, this.#renewAtMs) - this.#now();
    this.#timer = idleTimeout(() => this.#tick(), Math.max(1, dueInMs));
  }

  #tick(): void {
    this.#checkLease();
    if (this.#state !== "held") return;
    if (this.#now() >= this.#renewAtMs) void this.#renew();
    this.#arm();
  }

  async #renew(): Promise<void> {
    const { leaseMs } = this.#source;
    this.#renewAtMs = Number.POSITIVE_INFINITY;
    const startMs = this.#now();
    const parts = await this.extend(leaseMs).then(
      () => RENEWALS_PER_LEASE,
      () => RETRIES_PER_LEASE,
    );
    if (!this.#isWatched) return;
    this.#renewAtMs = (parts === RENEWALS_PER_LEASE ? startMs : this.#now()) + leaseMs / parts;
    this.#arm();
  }
}

/** The parts of a hold that differ between locks: its extension, its release, and the clock that proves it. */
export interface HoldSource<Fence extends number | null = number> {
  readonly fence: Fence;
  readonly leaseMs: number;
  /** When its first lease ends, by the lease clock. */
  readonly provenUntilMs: number;
  readonly leaseClock: Clock;
  /** Names the hold in messages. */
  readonly what: string;
  /** Resolves with false if the hold no longer exists. */
  extend(leaseMs: number): Promise<boolean>;
  /** Resolves with true if this call has ended the hold. */
  release(): Promise<boolean>;
}

/** A hold that one store keeps. `fence` is its number, or null if several hold the name at once. */
export class StoreHold<Fence extends number | null = number> implements HoldSource<Fence> {
  readonly fence: Fence;
  readonly leaseMs: number;
  readonly provenUntilMs: number;
  readonly leaseClock: Clock;
  readonly what: string;
  readonly #grant: Grant;
  #longestLeaseMs: number;

  constructor(grant: Grant, fence: Fence, what: string) {
    this.fence = fence;
    this.leaseMs = grant.leaseMs;
    this.provenUntilMs = grant.provenUntilMs;
    this.leaseClock = grant.store.leaseClock;
    this.what = what;
    this.#grant = grant;
    this.#longestLeaseMs = grant.leaseMs;
  }

  extend(leaseMs: number): Promise<boolean> {
    const { store, key, token, replicas } = this.#grant;
    this.#longestLeaseMs = Math.max(this.#longestLeaseMs, leaseMs);
    return store.run(renew, key, { token, leaseMs }, replicas > 0 ? { replicas } : undefined);
  }

  /** If the store fails, the release is sent again in the background. */
  async release(): Promise<boolean> {
    try {
      return await leaveHold(this.#grant);
    } catch (error) {
      const untilMs = this.leaseClock() + this.#longestLeaseMs;
      giveBack(this.#grant.store, { untilMs, release: () => leaveHold(this.#grant) });
      throw error;
    }
  }
}
