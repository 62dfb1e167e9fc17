import { Aborts } from "../async/aborts.ts";
import { timerMs } from "../async/timers.ts";
import type { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { Attempts, type Outcome } from "./attempt.ts";
import { type Grant, giveBack } from "./grant.ts";

export interface Ask {
  leaseMs: number;
  waitMs: number;
  signal: AbortSignal | undefined;
}

const aborts = new Aborts();

/** One caller until it is given the lock, its wait is over or its signal aborts. A request under way is awaited. */
export class Waiter {
  /** Null when the wait is over; rejects with the signal's reason, or where the last attempt failed. */
  readonly promise: Promise<Grant | null>;
  isOpen = true;
  readonly #attempts: Attempts;
  readonly #signal: AbortSignal | undefined;
  readonly #onLeft: () => void;
  readonly #store: Store;
  readonly #endMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #resolve!: (grant: Grant | null) => void;
  #reject!: (reason: unknown) => void;
  #isAsking = false;
  #error: OrielError | undefined;

  /** `id`: see Attempts. `onLeft` is told when it goes while no request of it is under way. */
  constructor(store: Store, key: string, { leaseMs, waitMs, signal }: Ask, id = "", onLeft: () => void = () => {}) {
    this.#attempts = new Attempts(store, key, leaseMs, id);
    this.#store = store;
    this.#endMs = store.monotonic() + waitMs;
    this.#signal = signal;
    this.#onLeft = onLeft;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (signal) aborts.add(signal, this);
  }

  /** Sends one request; the answer settles this caller where it can. Never rejects. A grant has been taken. */
  async ask(): Promise<Outcome> {
    this.#isAsking = true;
    const outcome = await this.#attempts.next();
    this.#isAsking = false;
    if (!this.isOpen) {
      if (!("grant" in outcome)) this.#attempts.giveUp();
      else {
        giveBack(outcome.grant);
        return { lookAgainMs: 1 };
      }
    } else if ("grant" in outcome) {
      this.#leave();
      this.#resolve(outcome.grant);
    } else {
      this.#error = "error" in outcome ? outcome.error : undefined;
      if (this.#error?.transient === false || this.#store.monotonic() >= this.#endMs) this.#end();
      else this.rest();
    }
    return outcome;
  }

  /** Without a request under way, the end of the wait is to be noticed by itself. */
  rest(): void {
    if (!this.isOpen || this.#isAsking || this.#timer !== undefined) return;
    const leftMs = this.#endMs - this.#store.monotonic();
    this.#timer = setTimeout(() => this.#timeIsUp(), timerMs(leftMs));
  }

  /** The signal's abort. */
  reject(reason: unknown): void {
    this.#leave();
    this.#reject(reason);
    if (this.#isAsking) return;
    this.#attempts.giveUp();
    this.#onLeft();
  }

  #timeIsUp(): void {
    this.#timer = undefined;
    if (this.#isAsking) return;
    this.#end();
    this.#onLeft();
  }

  #end(): void {
    this.#leave();
    this.#attempts.giveUp();
    if (this.#error) this.#reject(this.#error);
    else this.#resolve(null);
  }

  #leave(): void {
    this.isOpen = false;
    clearTimeout(this.#timer);
    if (this.#signal) aborts.delete(this.#signal, this);
  }
}
