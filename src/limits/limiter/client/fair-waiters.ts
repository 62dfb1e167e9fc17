import { deferred } from "../../../base/async/deferred.ts";
import { endsWithRequest } from "../../../base/async/of-request.ts";
import { timerMs } from "../../../base/async/timers.ts";
import type { Clock } from "../../../base/time.ts";
import type { Decision } from "../decision.ts";

/** Callers of one process that wait for permits of an id, in order of arrival. For lent permits see `acquireInTurn`. */
export class FairWaiters {
  readonly #last = new Map<string, Promise<void>>();

  /** Asks, and asks again when the decision said that the call would pass, until it passes or cannot pass in time. */
  async wait(
    keyPrefix: string,
    untilMs: number,
    now: Clock,
    signal: AbortSignal | undefined,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    signal?.throwIfAborted();
    // In Workers an earlier caller may have ended with its request, so each asks for itself.
    const before = endsWithRequest ? undefined : this.#last.get(keyPrefix);
    const turn = deferred();
    // A caller that gives up must not let later callers pass earlier ones: its turn ends after all turns before it.
    const last = before ? before.then(() => turn.promise) : turn.promise;
    this.#last.set(keyPrefix, last);
    void last.then(() => {
      if (this.#last.get(keyPrefix) === last) this.#last.delete(keyPrefix);
    });
    try {
      if (before) await until(before, untilMs - now(), signal);
      for (;;) {
        const decision = await ask();
        if (decision.allowed || decision.retryAfterMs > untilMs - now()) return decision;
        await until(undefined, decision.retryAfterMs, signal);
      }
    } finally {
      turn.resolve();
    }
  }
}

/** Resolves when the promise settles or after `ms`. Rejects with the signal's reason when it aborts. */
export function until(promise: Promise<void> | undefined, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const timer = setTimeout(end, timerMs(ms));
    signal?.addEventListener("abort", abort, { once: true });
    void promise?.then(end);
  });
}
