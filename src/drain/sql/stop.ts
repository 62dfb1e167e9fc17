import { argumentError, OrielError } from "../../errors.ts";
import type { SinkCallOptions } from "./sink.ts";

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The end of a call by its deadline or its signal, whichever comes first. */
export class Stop {
  readonly #what: string;
  readonly #endMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #promise: Promise<never>;
  #reject!: (error: OrielError) => void;
  #reason: OrielError | undefined;

  constructor(what: string, { timeoutMs, signal }: SinkCallOptions) {
    if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS))
      throw argumentError("timeoutMs", timeoutMs, `a whole number of ms from 1 to ${LONGEST_TIMER_MS}`);
    this.#what = what;
    this.#promise = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#promise.catch(() => {});
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

  /** The promise, or the reason to stop; what was begun goes on, and what it brings is handed to `late`. */
  race<T>(promise: Promise<T>, late?: (value: T) => void): Promise<T> {
    promise.then(
      (value) => this.#reason && late?.(value),
      () => {},
    );
    return this.#reason ? this.#promise : Promise.race([promise, this.#promise]);
  }

  /** Of no more use: lets go of timer and signal. */
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
    this.#reject(this.#reason);
  }
}
