import { argumentError, byteBound, checkKnown, checkUnaborted } from "../../base/errors.ts";
import { type Announced, given, oneOf, type Schema, settingsOf } from "../../base/options.ts";
import { randomU32 } from "../../base/random.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { RunOptions } from "../../store/contract.ts";
import type { JournalAnswer } from "../journal/format/answer.ts";
import type { Append } from "../journal/steps/append.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { NAN, VALUES } from "../stats/local-series-options.ts";
import { checkGone } from "../stats/window-query.ts";

/** Options of `Series`. Values and clock must be the same in all processes. */
export interface SeriesOptions {
  /** The longest window that can be queried; default "1h". The store keeps events for the longest retention of any writer. */
  retention?: Duration | undefined;
  /** How values are stored; the same for all processes that share the series. Default "float32". */
  values?: "float32" | "float64" | undefined;
  /** "event": the current time of the series is the largest `at` recorded. "server" (default): it is the server's time. */
  clock?: "server" | "event" | undefined;
  /** NaN values, and infinities under "reject": rejected (default), left out, or reported as NaN. */
  nan?: NanPolicy | undefined;
  /** Maximum bytes of events that wait for the store; default 8 MiB. */
  maxPendingBytes?: number | undefined;
  /**
   * Maximum bytes of the copy that this process caches for queries; default 512 MiB. A window that needs more rejects with
   * TOO_LARGE, unless outlines of sealed chunks answer it. All series of one store share the largest of their bounds: the least recently queried series is evicted.
   * The frame names of many producers count too. If they take more than half of the bound, the copy is not cached, and
   * each query reads it again.
   */
  maxResidentBytes?: number | undefined;
  /**
   * Number of replicas that must confirm an event before `record` resolves (WAIT). If fewer confirm within the store's
   * deadline, the call rejects with `applied` "unknown". Default 0: a failover can lose acknowledged events.
   */
  replicas?: number | undefined;
  /**
   * Rounds each value when it is recorded, for values in ms: "1us" keeps three decimals, "10us" two, "100us" one, "1ms" none.
   * Sealed chunks take about 1.5 bytes less for each event rounded to 1 us. Default: values are stored as they are.
   */
  resolution?: "1us" | "10us" | "100us" | "1ms" | undefined;
  /**
   * What calls do while the store is unreachable (DEADLINE, UNAVAILABLE, STALE). "throw" (default): they reject. "local":
   * this process answers from its copy and its own events. It buffers the events (within `maxPendingBytes`), sends them
   * when the store is back, and marks results as `degraded`. Events that the store may already have, and events from before
   * the first contact with the store, are not sent. `store.on("error")` reports their number.
   */
  onStoreError?: "throw" | "local" | undefined;
  /** Source of random u32 numbers, for repeatable tests. */
  entropy?: (() => number) | undefined;
}

/** Options of `Series.record` and `Series.observe`. */
export interface RecordOptions {
  /**
   * Time of the event, in ms since 1970; default: the server's time on arrival. Required with `clock: "event"`. Rejects
   * with LATE if it is older than the retention, and with EARLY if it is more than 60 s ahead.
   */
  at?: number | Date | undefined;
  /** Aborts the wait. The event may still be written. */
  signal?: AbortSignal | undefined;
}

/** Options of `Series.recordMany`. */
export interface RecordManyOptions {
  /** One time for all events, or one time for each, in ms. */
  at?: number | Date | ArrayLike<number> | undefined;
  signal?: AbortSignal | undefined;
}

/** Where recorded events are. */
export interface Recorded {
  /** False: in the store. True: in this process (`onStoreError: "local"`); other processes may never see them. */
  degraded: boolean;
  degradedBy?: "local";
}

/** Frozen, because all callers share them. */
export const STORED: Recorded = Object.freeze({ degraded: false });
export const BUFFERED: Recorded = Object.freeze({ degraded: true, degradedBy: "local" });

export type SeriesSettings = ReturnType<typeof seriesSettings> & {
  /** Sends the appends of this process in place of the step, for events that the store has in another form. */
  appending?: (input: Append, options: RunOptions) => Promise<JournalAnswer>;
  /** Called before an append. Returns a promise if it has to wait. If that rejects, nothing is sent. */
  beforeAppend?: () => Promise<void> | undefined;
  /** Called when a request of this process has ended, with its error. */
  ended?: (error: unknown) => void;
};

export type WrittenListener = (values: ArrayLike<number>) => void;

const UNITS_PER_ONE: Readonly<Record<string, number>> = { "1us": 1000, "10us": 100, "100us": 10, "1ms": 1 };
const MAX_REPLICAS = 1000;
/** Five years. A chunk spans a 64th of the retention and must be closed after 45 days. */
const MAX_RETENTION_MS = 5 * 365 * 86_400_000;

export const SERIES = {
  retention: [durationMs, 3_600_000, 1, MAX_RETENTION_MS],
  values: VALUES,
  clock: [oneOf, "server", "server", "event"],
  nan: NAN,
  maxPendingBytes: [byteBound, 8 << 20],
  maxResidentBytes: [byteBound, 512 << 20],
  replicas: [replicasOf, 0],
  resolution: [resolutionOf],
  onStoreError: [oneOf, "throw", "throw", "local"],
  entropy: [given<() => number>, randomU32],
} as const satisfies Schema<SeriesOptions>;
type Unannounced = "nan" | "maxPendingBytes" | "maxResidentBytes" | "onStoreError" | "entropy";

export function seriesSettings(options: SeriesOptions) {
  checkGone(options);
  const { values, clock, resolution, onStoreError, ...rest } = settingsOf(SERIES, options);
  const { retentionMs: retention, replicas } = rest;
  const own: Announced<typeof SERIES, "values" | "clock" | Unannounced> = { retention, replicas, resolution };
  return {
    ...rest,
    /** What all processes must share, and what is this one's own. */
    announced: [{ values, clock }, own] as const,
    valueType: values === "float64" ? 1 : 0,
    clock: clock === "event" ? 1 : 0,
    /** Values are rounded to this part of 1; 0: not at all. */
    unitsPerOne: resolution === undefined ? 0 : UNITS_PER_ONE[resolution]!,
    isLocalOnError: onStoreError === "local",
    /** Called with the values of each batch that the store has. */
    written: new Set<WrittenListener>(),
  };
}

function replicasOf(argument: string, replicas: number): number {
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > MAX_REPLICAS)
    throw argumentError(argument, replicas, `a whole number of replicas from 0 to ${MAX_REPLICAS}`);
  return replicas;
}

function resolutionOf(argument: string, resolution: SeriesOptions["resolution"]) {
  if (resolution !== undefined && !Object.keys(UNITS_PER_ONE).includes(resolution))
    throw argumentError(argument, resolution, '"1us", "10us", "100us", "1ms" or left out');
  return resolution;
}

/** Throws ARGUMENT, or the reason of an aborted signal. */
export function checkRecordOptions(options: RecordOptions | RecordManyOptions): void {
  checkKnown(options, ["at", "signal"]);
  checkUnaborted(options.signal);
}
