import type { OrielError } from "../errors.ts";
import type { Permit } from "./gate.ts";

interface Waiter {
  resolve(permit: Permit): void;
  reject(reason: unknown): void;
  isOpen: boolean;
}

/** Calls that wait to hear whether they may pass. */
export class Asking {
  #waiting: Waiter[] = [];

  get count(): number {
    return this.#waiting.length;
  }

  /** Rejects with the signal's reason as soon as it is aborted. */
  ask(signal: AbortSignal | undefined): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const onAbort = () => waiter.reject(signal!.reason);
      const settled = <Value>(settle: (value: Value) => void) => {
        return (value: Value) => {
          if (!waiter.isOpen) return;
          waiter.isOpen = false;
          this.#waiting = this.#waiting.filter((each) => each !== waiter);
          signal?.removeEventListener("abort", onAbort);
          settle(value);
        };
      };
      const waiter: Waiter = { isOpen: true, resolve: settled(resolve), reject: settled(reject) };
      this.#waiting.push(waiter);
      signal?.addEventListener("abort", onAbort);
    });
  }

  /** Those who wait now, up to so many; who comes later is not among them. */
  take(): Asked {
    const asked = new Asked(this.#waiting);
    this.#waiting = [];
    return asked;
  }
}

/** Calls that wait for one answer. */
export class Asked {
  readonly #waiters: readonly Waiter[];

  constructor(waiters: readonly Waiter[]) {
    this.#waiters = waiters;
  }

  get count(): number {
    return this.#waiters.length;
  }

  /** Lets each pass, or not, as `enter` has it. */
  each(enter: () => Permit): void {
    for (const waiter of this.#open)
      try {
        waiter.resolve(enter());
      } catch (error) {
        waiter.reject(error);
      }
  }

  /** Lets the first pass with these permits, and no other; the permits that are left, as some have gone. */
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
