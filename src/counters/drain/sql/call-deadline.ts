import { deferred } from "../../../base/async/deferred.ts";
import { argumentError, OrielError } from "../../../base/errors.ts";
import type { SinkCallOptions } from "./sink.ts";

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Ends a call at its deadline or when its signal aborts, whichever comes first. */
export class CallDeadline {
  readonly #what: string;
  readonly #endMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  /** Rejects when the call ends. */
  readonly #ended = deferred<never>();
  #reason: OrielError | undefined;

  constructor(what: string, { timeoutMs, signal }: SinkCallOptions) {
    if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS))
      throw argumentError("timeoutMs", timeoutMs, `a whole number of ms from 1 to ${MAX_TIMER_MS}`);
    this.#what = what;
    this.#ended.promise.catch(() => {});
    this.#endMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(
        () =>
          this.#end(
            new OrielError("DEADLINE", `the database took longer than ${timeoutMs} ms in "${what}"`, {
              transient: true,
            }),
          ),
        timeoutMs,
      );
    this.#signal = signal;
    if (signal?.aborted) this.#aborted();
    else signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  /** Why the call ends; undefined while it goes on. */
  get reason(): OrielError | undefined {
    return this.#reason;
  }

  /** Infinity without a deadline. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - performance.now());
  }

  /** Settles with the promise, or rejects when the call ends first. A value that arrives later is passed to `late`. */
  race<T>(promise: Promise<T>, late?: (value: T) => void): Promise<T> {
    promise.then(
      (value) => this.#reason && late?.(value),
      () => {},
    );
    return this.#reason ? this.#ended.promise : Promise.race([promise, this.#ended.promise]);
  }

  /** Clears the timer and removes the listener. */
  close(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#aborted);
  }

  readonly #aborted = () =>
    this.#end(
      new OrielError("UNAVAILABLE", `"${this.#what}" was aborted`, { cause: this.#signal?.reason, transient: true }),
    );

  #end(reason: OrielError): void {
    this.#reason ??= reason;
    this.#ended.reject(this.#reason);
  }
}
