import { onAbort } from "../../base/async/aborts.ts";
import type { OrielError } from "../../base/errors.ts";
import type { Permit } from "./gate.ts";

interface Waiter {
  resolve(permit: Permit): void;
  reject(reason: unknown): void;
  isOpen: boolean;
}

/** Calls that wait until the store's answer says whether they may pass. */
export class WaitingCalls {
  #waiting: Waiter[] = [];

  get count(): number {
    return this.#waiting.length;
  }

  /** Rejects with the signal's reason as soon as it aborts. */
  add(signal: AbortSignal | undefined): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          if (!waiter.isOpen) return;
          waiter.isOpen = false;
          this.#waiting = this.#waiting.filter((each) => each !== waiter);
          ignore?.();
          settle(value);
        };
      const waiter: Waiter = { isOpen: true, resolve: settled(resolve), reject: settled(reject) };
      this.#waiting.push(waiter);
      const ignore = signal && onAbort(signal, () => waiter.reject(signal.reason));
    });
  }

  /** Takes all waiting calls out. Later calls are not among them. */
  takeAll(): WaitingBatch {
    const batch = new WaitingBatch(this.#waiting);
    this.#waiting = [];
    return batch;
  }
}

/** Calls that wait for the same answer. */
export class WaitingBatch {
  readonly #waiters: readonly Waiter[];

  constructor(waiters: readonly Waiter[]) {
    this.#waiters = waiters;
  }

  get count(): number {
    return this.#waiters.length;
  }

  /** Admits or rejects each call as `enter` returns or throws. */
  enterEach(enter: () => Permit): void {
    for (const waiter of this.#open)
      try {
        waiter.resolve(enter());
      } catch (error) {
        waiter.reject(error);
      }
  }

  /** Admits one call per permit and rejects the rest. Returns the unused permits: some calls may have been aborted. */
  grant(permits: readonly Permit[], openError: () => OrielError): readonly Permit[] {
    const waiters = this.#open;
    for (const [i, waiter] of waiters.entries()) {
      const permit = permits[i];
      if (permit === undefined) waiter.reject(openError());
      else waiter.resolve(permit);
    }
    return permits.slice(waiters.length);
  }

  get #open(): Waiter[] {
    return this.#waiters.filter(({ isOpen }) => isOpen);
  }
}
