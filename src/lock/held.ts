import { idleTimeout } from "../async/timers.ts";
import { OrielError } from "../errors.ts";
import { Place } from "../place.ts";
import type { Duration } from "../time.ts";
import { extend } from "./extend.ts";
import { type Grant, provenUntil } from "./grant.ts";
import { beginRelease } from "./line.ts";
import { leaseMsOf } from "./lock-options.ts";
import { release } from "./release.ts";

/** A watchdog renews after a third of the lease; after a failure sooner. */
const RENEWALS_PER_LEASE = 3;
const RETRIES_PER_LEASE = 10;

/**
 * A lock that is held. Whether it still is, is decided by this process's clock, counted from before the
 * request that got or extended it was sent, less 1 % and 2 ms: never by a timer, never by silence.
 */
export class HeldLock {
  /** Higher than that of every hold before, a safe integer: what is written under the lock refuses a lower one. */
  readonly fence: number;
  readonly #at: Place;
  readonly #grant: Grant;
  /** Made when first asked for: few holders do. */
  #abort: AbortController | undefined;
  #lostBecause: OrielError | undefined;
  #provenUntilMs: number;
  #renewAtMs = Number.POSITIVE_INFINITY;
  #state: "held" | "released" | "lost" = "held";
  #released: Promise<boolean> | undefined;
  #mayBeFreed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(grant: Grant, isWatched: boolean, at = new Place("Lock", undefined, grant.store)) {
    this.#at = at;
    this.fence = grant.fence;
    this.#grant = grant;
    this.#provenUntilMs = grant.provenUntilMs;
    if (isWatched) this.#renewAtMs = this.#now() + grant.leaseMs / RENEWALS_PER_LEASE;
    this.#arm();
  }

  /** For how long the hold can be proven from now on, ms; 0 when it is released or lost. */
  get leftMs(): number {
    this.#look();
    return this.#state === "held" ? this.#provenUntilMs - this.#now() : 0;
  }

  /** Aborts with LOST when the hold can no longer be proven, and stays silent when it is released before. */
  get signal(): AbortSignal {
    this.#look();
    if (!this.#abort) {
      this.#abort = new AbortController();
      this.#arm();
    }
    if (this.#lostBecause && !this.#abort.signal.aborted) this.#abort.abort(this.#lostBecause);
    return this.#abort.signal;
  }

  /**
   * Makes the hold last `lease` from now on, at least; default the lease it was got with. False, and the hold is lost,
   * where the server no longer has it; false where it was released or lost before. Rejects where the store fails:
   * what was proven stays so.
   */
  extend(lease: Duration = this.#grant.leaseMs): Promise<boolean> {
    return this.#at.run("extend", async () => {
      const leaseMs = leaseMsOf("lease", lease);
      if (this.leftMs === 0) return false;
      const { store, key, token } = this.#grant;
      const provenUntilMs = provenUntil(this.#now(), leaseMs);
      const isHeld = await store.run(extend, key, { token, leaseMs });
      this.#look();
      if (this.#state !== "held") return false;
      if (isHeld) this.#provenUntilMs = Math.max(this.#provenUntilMs, provenUntilMs);
      else this.#lose("the server no longer has it: it was deleted, or ran out");
      this.#arm();
      return this.leftMs > 0;
    });
  }

  /**
   * Gives the lock back and wakes who waits. True: it was held until now. False: it was not ours any more. Again: the
   * same answer. Rejects where the store fails; the lock then ends with its lease, and a further call tries again.
   */
  release(): Promise<boolean> {
    this.#look();
    if (this.#state === "held") this.#state = "released";
    clearTimeout(this.#timer);
    this.#released ??= this.#at
      .run("release", () => this.#release())
      .catch((error) => {
        this.#released = undefined;
        throw error;
      });
    return this.#released;
  }

  /** A second request that finds nothing, while the first's reply is missing, finds what the first has done. */
  async #release(): Promise<boolean> {
    const { store, key, token } = this.#grant;
    const send = async () => {
      const { id, isNext, sent } = beginRelease(store, key);
      const answer = store.run(release, key, { token, id, isNext });
      sent();
      const isFreed = await answer;
      return isFreed || (this.#mayBeFreed && this.#state === "released");
    };
    try {
      return await send();
    } catch (error) {
      if ((error as OrielError).applied !== "unknown") throw error;
      this.#mayBeFreed = true;
      return send();
    }
  }

  #now(): number {
    return this.#grant.store.leaseClock();
  }

  #look(): void {
    if (this.#state === "held" && this.#now() >= this.#provenUntilMs) this.#lose("its lease may be over");
  }

  #lose(why: string): void {
    this.#state = "lost";
    clearTimeout(this.#timer);
    const lost = new OrielError("LOST", `the lock ${this.#grant.key} is lost: ${why}`);
    this.#lostBecause = this.#at.error(undefined, lost) as OrielError;
    this.#abort?.abort(this.#lostBecause);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Where nobody renews it and nobody has asked for the signal, all that is told is told when it is looked at.
    if (this.#state !== "held" || (this.#renewAtMs === Number.POSITIVE_INFINITY && !this.#abort)) return;
    const dueInMs = Math.min(this.#provenUntilMs, this.#renewAtMs) - this.#now();
    this.#timer = idleTimeout(() => this.#tick(), Math.max(1, dueInMs));
  }

  #tick(): void {
    this.#look();
    if (this.#state !== "held") return;
    if (this.#now() >= this.#renewAtMs) void this.#renew();
    this.#arm();
  }

  async #renew(): Promise<void> {
    const { leaseMs } = this.#grant;
    this.#renewAtMs = Number.POSITIVE_INFINITY;
    const startMs = this.#now();
    const parts = await this.extend(leaseMs).then(
      () => RENEWALS_PER_LEASE,
      () => RETRIES_PER_LEASE,
    );
    this.#renewAtMs = (parts === RENEWALS_PER_LEASE ? startMs : this.#now()) + leaseMs / parts;
    this.#arm();
  }
}
