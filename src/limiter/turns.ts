import type { Clock } from "../time.ts";
import type { Decision } from "./decision.ts";

/** Callers of one process who wait for permits of an id, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Asks, and asks again when the decision said that it would pass, until it does or could not within the time. */
  async wait(
    base: string,
    untilMs: number,
    now: Clock,
    signal: AbortSignal | undefined,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    signal?.throwIfAborted();
    const before = this.#last.get(base);
    let end!: () => void;
    const turn = new Promise<void>((resolve) => {
      end = resolve;
    });
    const last = before ? before.then(() => turn) : turn;
    this.#last.set(base, last);
    try {
      if (before) await until(before, untilMs - now(), signal);
      for (;;) {
        const decision = await ask();
        const waitMs = decision.retryAfterMs;
        if (decision.allowed || now() + waitMs > untilMs) return decision;
        await until(undefined, waitMs, signal);
      }
    } finally {
      end();
      if (this.#last.get(base) === last) this.#last.delete(base);
    }
  }
}

/** Until the promise is settled, so many ms are over, or the signal aborts (then rejects with its reason). */
function until(promise: Promise<void> | undefined, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const timer = setTimeout(end, Math.min(Math.max(0, ms), 2 ** 31 - 1));
    signal?.addEventListener("abort", abort, { once: true });
    void promise?.then(end);
  });
}
