import { deferred } from "../../async/deferred.ts";
import { endsWithRequest } from "../../async/of-request.ts";
import { timerMs } from "../../async/timers.ts";
import type { Clock } from "../../time.ts";
import type { Decision } from "../decision.ts";

/** How long to wait at first, and at most, where permits may come back before the decision says so. */
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 500;

/** Callers of one process who wait for permits of an id, in the order in which they came. */
export class FairWaiters {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Asks, and asks again when the decision said that it would pass, until it does or could not within the time. What is
   * lent may come back any time (`mayComeEarly`): then it looks more often, and once more when the time is over.
   */
  async wait(
    keyPrefix: string,
    untilMs: number,
    now: Clock,
    signal: AbortSignal | undefined,
    mayComeEarly: boolean,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    signal?.throwIfAborted();
    // In Workers who stands before may be gone without a word: each asks for itself.
    const before = endsWithRequest ? undefined : this.#last.get(keyPrefix);
    const turn = deferred();
    // Who gives up leaves those before him in the line: it is over when all of them are gone.
    const last = before ? before.then(() => turn.promise) : turn.promise;
    this.#last.set(keyPrefix, last);
    void last.then(() => {
      if (this.#last.get(keyPrefix) === last) this.#last.delete(keyPrefix);
    });
    try {
      if (before) await until(before, untilMs - now(), signal);
      for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(2 * lookMs, LAST_LOOK_MS)) {
        const decision = await ask();
        const { allowed, retryAfterMs } = decision;
        const leftMs = untilMs - now();
        const isHopeless = retryAfterMs === Infinity || (mayComeEarly ? leftMs <= 0 : retryAfterMs > leftMs);
        if (allowed || isHopeless) return decision;
        await until(undefined, mayComeEarly ? Math.min(retryAfterMs, leftMs, lookMs) : retryAfterMs, signal);
      }
    } finally {
      turn.resolve();
    }
  }
}

/** Until the promise is settled, so many ms are over, or the signal aborts (then rejects with its reason). */
function until(promise: Promise<void> | undefined, ms: number, signal: AbortSignal | undefined): Promise<void> {
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
