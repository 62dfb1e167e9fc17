import { Aborts } from "../async/aborts.ts";
import { deferred } from "../async/deferred.ts";
import { timerMs } from "../async/timers.ts";
import type { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { Attempts, type Outcome } from "./attempt.ts";
import { type Grant, giveBack } from "./grant.ts";
import type { HoldSteps } from "./steps/hold-steps.ts";

export interface AcquireRequest {
  leaseMs: number;
  waitMs: number;
  signal: AbortSignal | undefined;
}

const aborts = new Aborts();

/** One caller, until it gets the lock, its wait ends or its signal aborts. A request that is under way is awaited. */
export class Waiter {
  isOpen = true;
  readonly #attempts: Attempts;
  readonly #signal: AbortSignal | undefined;
  readonly #onLeft: () => void;
  readonly #store: Store;
  readonly #endMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #outcome = deferred<Grant | null>();
  #isRequesting = false;
  #error: OrielError | undefined;

  /** `id`: see `Attempts`. `onLeft` is called if it leaves while none of its requests is under way. */
  constructor(
    steps: HoldSteps,
    store: Store,
    key: string,
    { leaseMs, waitMs, signal }: AcquireRequest,
    id = "",
    onLeft: () => void = () => {},
  ) {
    this.#attempts = new Attempts(steps, store, key, leaseMs, id);
    this.#store = store;
    this.#endMs = store.monotonic() + waitMs;
    this.#signal = signal;
    this.#onLeft = onLeft;
    if (signal) aborts.add(signal, this);
  }

  /** Resolves with null when the wait ends. Rejects with the signal's reason, or if the last attempt failed. */
  get promise(): Promise<Grant | null> {
    return this.#outcome.promise;
  }

  /** Sends one request and settles this caller if the answer decides. Never rejects. A returned grant has been passed on. */
  async tryOnce(): Promise<Outcome> {
    this.#isRequesting = true;
    const outcome = await this.#attempts.next();
    this.#isRequesting = false;
    if (!this.isOpen) {
      if (!("grant" in outcome)) this.#attempts.giveUp();
      else {
        giveBack(outcome.grant);
        return { retryInMs: 1 };
      }
    } else if ("grant" in outcome) {
      this.#close();
      this.#outcome.resolve(outcome.grant);
    } else {
      this.#error = "error" in outcome ? outcome.error : undefined;
      if (this.#error?.transient === false || this.#store.monotonic() >= this.#endMs) this.#end();
      else this.startTimer();
    }
    return outcome;
  }

  /** While no request is under way, a timer ends the wait. */
  startTimer(): void {
    if (!this.isOpen || this.#isRequesting || this.#timer !== undefined) return;
    const leftMs = this.#endMs - this.#store.monotonic();
    this.#timer = setTimeout(() => this.#onTimeout(), timerMs(leftMs));
  }

  /** Called when the signal aborts. */
  reject(reason: unknown): void {
    this.#close();
    this.#outcome.reject(reason);
    if (this.#isRequesting) return;
    this.#attempts.giveUp();
    this.#onLeft();
  }

  #onTimeout(): void {
    this.#timer = undefined;
    if (this.#isRequesting) return;
    this.#end();
    this.#onLeft();
  }

  #end(): void {
    this.#close();
    this.#attempts.giveUp();
    if (this.#error) this.#outcome.reject(this.#error);
    else this.#outcome.resolve(null);
  }

  #close(): void {
    this.isOpen = false;
    clearTimeout(this.#timer);
    if (this.#signal) aborts.delete(this.#signal, this);
  }
}
