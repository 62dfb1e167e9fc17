import { deferred } from "../async/deferred.ts";
import { timerMs } from "../async/timers.ts";
import type { OrielError } from "../errors.ts";
import { FOREIGN_POLL_MS } from "../generated/layouts/lock.ts";
import type { Store } from "../store/contract.ts";
import type { HeldLock } from "./held.ts";
import { writerChannelOf } from "./steps/keys.ts";
import { readers } from "./steps/readers.ts";

/** A lost notice costs a writer at most this time. */
const POLL_MS = 1000;

/** The wait of a writer, which has its turn, for the readers that are inside. */
export class ReadersLeave {
  readonly #store: Store;
  readonly #key: string;
  readonly #held: HeldLock;
  readonly #endMs: number;
  readonly #signal: AbortSignal | undefined;
  #notice = deferred();

  constructor(store: Store, key: string, held: HeldLock, endMs: number, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#key = key;
    this.#held = held;
    this.#endMs = endMs;
    this.#signal = signal;
  }

  /**
   * Resolves with true when no reader is inside and the writer's turn is proven to last, with false at the end of the wait or
   * of the turn. Rejects with the signal's reason, or as the store if it still fails at the end of the wait.
   */
  async wait(): Promise<boolean> {
    let unsubscribe: (() => void) | undefined;
    const onAbort = () => this.#onNotice();
    this.#signal?.addEventListener("abort", onAbort);
    try {
      for (;;) {
        this.#notice = deferred();
        const untilMs = await this.#readersUntilMs();
        this.#signal?.throwIfAborted();
        if (this.#held.leftMs === 0) return false;
        if (untilMs === 0) return true;
        const leftMs = this.#endMs - this.#store.monotonic();
        if (leftMs <= 0) return false;
        unsubscribe ??= this.#store.subscribe?.(writerChannelOf(this.#key), () => this.#onNotice());
        await this.#noticeWithin(Math.min(untilMs, leftMs, unsubscribe ? POLL_MS : FOREIGN_POLL_MS));
        this.#signal?.throwIfAborted();
      }
    } finally {
      unsubscribe?.();
      this.#signal?.removeEventListener("abort", onAbort);
    }
  }

  #onNotice(): void {
    this.#notice.resolve();
  }

  /** After a temporary failure it asks again at the next poll, if time is left. */
  async #readersUntilMs(): Promise<number> {
    try {
      return (await this.#store.run(readers, this.#key, undefined)).untilMs;
    } catch (error) {
      if (!(error as OrielError).transient || this.#store.monotonic() >= this.#endMs) throw error;
      return FOREIGN_POLL_MS;
    }
  }

  async #noticeWithin(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#onNotice(), timerMs(ms));
    await this.#notice.promise;
    clearTimeout(timer);
  }
}
