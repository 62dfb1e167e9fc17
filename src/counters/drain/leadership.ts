import type { AnyHeldLock, AnyLock } from "../../holds/lock/any-lock.ts";

/** The hold of the lock that elects the process that drains. Without a lock every process leads. */
export class Leadership {
  readonly #lock: AnyLock | undefined;
  readonly #onLost: (fence: number | null) => void;
  #held: AnyHeldLock | undefined;
  /** The request for the lock that is under way. */
  #asked: Promise<void> | undefined;
  #resigned = new AbortController();

  /** `onLost` is called when the lock was lost, at the next `leads`. */
  constructor(lock: AnyLock | undefined, onLost: (fence: number | null) => void) {
    this.#lock = lock;
    this.#onLost = onLost;
  }

  /** Whether this process leads now, without a request. */
  get isLeading(): boolean {
    return !this.#lock || (this.#held !== undefined && !this.#held.signal.aborted);
  }

  /** Undefined without a lock, or without fences. */
  get fence(): number | undefined {
    return this.#held?.fence ?? undefined;
  }

  /** Aborts when the lock is lost. Undefined without a lock. */
  get signal(): AbortSignal | undefined {
    return this.#held?.signal;
  }

  /** Resolves with true if this process leads, after a request for the lock if it does not have it. */
  async leads(): Promise<boolean> {
    if (!this.#lock) return true;
    if (this.#held?.signal.aborted) {
      this.#onLost(this.#held.fence);
      this.#held = undefined;
    }
    if (!this.#held) {
      this.#asked ??= this.#ask(this.#lock, this.#resigned.signal).finally(() => {
        this.#asked = undefined;
      });
      await this.#asked;
    }
    return this.#held !== undefined;
  }

  /** Ends a wait for the lock, and releases it. If the release fails, the lock ends with its lease. */
  async resign(): Promise<void> {
    this.#resigned.abort();
    this.#resigned = new AbortController();
    const held = this.#held;
    this.#held = undefined;
    await held?.release().catch(() => {});
  }

  async #ask(lock: AnyLock, signal: AbortSignal): Promise<void> {
    try {
      const held = await lock.tryLock({ signal });
      if (signal.aborted) await held?.release().catch(() => {});
      else this.#held = held ?? undefined;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
