import { type Schema, settingsOf } from "../../base/options.ts";
import { atSite, checkStore } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { Store } from "../../store/contract.ts";
import { quietStore } from "../../store/registry/quiet-store.ts";
import { QueueTimings } from "./queue-timings.ts";
import { type Recorder, recorderOf } from "./recorder.ts";

/** Options of `recordHistory`. */
export interface HistoryOptions {
  /**
   * How long the lateness, wait and run time of each message are kept; default "1h". They take 42 bytes for each message, so a
   * queue of 1000 messages a second needs 150 MB an hour. `false` records none.
   */
  timings?: Duration | false | undefined;
}

/** What `recordHistory` returns. */
export interface History {
  /**
   * Sends what this process has counted. Never rejects: counts that did not reach the store are sent with the next report. In a
   * runtime that ends with its request, such as Workers, call it with each request: `ctx.waitUntil(history.flush())`.
   */
  flush(): Promise<void>;
  /** Sends the rest and ends the history of this process. */
  close(): Promise<void>;
}

const MAX_MS = 2 ** 42;
const histories = new WeakMap<Recorder, History>();

/**
 * Records the exact lateness, wait and run time of each message of this process's queues on this store, for the dashboard. And
 * where a store does not do it by itself (HTTP, memory, Workers), what its limiters, queues and breakers do: calls by policy
 * and outcome, the ids that are denied most, deliveries by outcome, and openings with their causes.
 *
 * Structures made later are included. Call it once at the start. A further call for the store returns the same history, with
 * the options of the first call, and nothing is counted twice. No call of a structure waits for it. Throws ARGUMENT.
 *
 * @example
 * const history = recordHistory(store);
 * process.once("SIGTERM", () => history.close());
 */
export function recordHistory(store: Store, options: HistoryOptions = {}): History {
  return atSite("recordHistory", () => {
    checkStore(store);
    const { timings } = settingsOf(HISTORY, options);
    const recorder = recorderOf(store);
    let history = histories.get(recorder);
    if (!history) {
      history = historyOf(store, recorder, timings);
      histories.set(recorder, history);
    }
    return history;
  });
}

const HISTORY = { timings: [timingsMsOf, 3_600_000] } as const satisfies Schema<HistoryOptions>;

/** Undefined: none are recorded. */
function timingsMsOf(argument: string, timings: Duration | false): number | undefined {
  return timings === false ? undefined : durationMs(argument, timings, 60_000, MAX_MS);
}

function historyOf(store: Store, recorder: Recorder, timingsMs: number | undefined): History {
  const timings = timingsMs === undefined ? undefined : new QueueTimings(quietStore(store), timingsMs);
  if (timings) recorder.onStructure((structure) => timings.attach(structure));
  let closed: Promise<void> | undefined;
  return {
    flush: () => recorder.flush(),
    close() {
      closed ??= Promise.all([recorder.close(), timings?.close()]).then(() => {});
      return closed;
    },
  };
}
