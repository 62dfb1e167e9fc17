import { type Deferred, deferred } from "../../base/async/deferred.ts";
import type { Timers } from "../../base/async/timers.ts";
import type { Clock } from "../../base/time.ts";
import type { ShardPoller } from "./shard-poller.ts";

const LAST_TRIES = 5;

export interface ClosingOptions {
  pollers: readonly ShardPoller[];
  timers: Timers;
  clock: Clock;
  isRunning(): boolean;
  /** Gives the messages of running handlers back. */
  giveBack(): void;
}

/** The end of a worker: it waits for running handlers, and until each shard has all results or has failed for too long. */
export class Closing {
  readonly #options: ClosingOptions;
  readonly #ended: Deferred<void> = deferred();
  /** A shard with this number of failures is given up. */
  #maxFailures: readonly number[];
  #endAtMs = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(options: ClosingOptions) {
    this.#options = options;
    this.#maxFailures = options.pollers.map(({ failures }) => failures + LAST_TRIES);
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Called when a request or handler has ended. */
  check(): void {
    const { pollers, isRunning } = this.#options;
    if (isRunning() || !pollers.every((each, i) => each.isIdle || each.failures >= this.#maxFailures[i]!)) return;
    this.#endAtMs = Number.NEGATIVE_INFINITY;
    this.#cancelTimer?.();
    this.#ended.resolve();
  }

  /** Gives messages back when the time is over. Then each shard has one more try. */
  endWithin(ms: number): void {
    const { timers, clock } = this.#options;
    const atMs = clock() + ms;
    if (atMs >= this.#endAtMs) return;
    this.#endAtMs = atMs;
    this.#cancelTimer?.();
    this.#cancelTimer = timers.after(ms, () => {
      const { pollers, giveBack } = this.#options;
      giveBack();
      this.#maxFailures = pollers.map(({ failures }, i) => Math.min(this.#maxFailures[i]!, failures + 1));
      this.check();
    });
  }
}
