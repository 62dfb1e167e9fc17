import { argumentError, byteBound, checkKnown } from "../errors.ts";
import { type NanPolicy, policyOf } from "../kernel/nan.ts";
import { randomU32 } from "../random.ts";
import { type Duration, durationMs } from "../time.ts";

export interface SeriesOptions {
  /** Longest span that is ever asked for; default "1h". The store keeps the largest that any writer named. */
  retention?: Duration;
  /** How values are stored; the same for all who share the series. Default "float32". */
  values?: "float32" | "float64";
  /** "event": the series' now is the largest `at` recorded, not the server's time. Default "server". */
  clock?: "server" | "event";
  /** What NaN and, under "reject" (default), infinities do: refused, left out, or told as NaN. */
  nan?: NanPolicy;
  /** Bound on events that wait for the store; default 8 MiB. */
  maxPendingBytes?: number;
  /**
   * Bound on the copy kept for queries; default 512 MiB. A window that needs more is TOO_LARGE. All series of one store
   * stay together within the largest of their bounds: the least recently queried gives its copy up. The names of frames of
   * many producers count too; a copy whose names take more than half of the bound is read again for each query.
   */
  maxResidentBytes?: number;
  /**
   * False for a process that lives for a question or two: nothing is held after an answer, and a first `recordAndGet` goes
   * by this process's clock, one request in place of two. Where that clock differs from the server's by 10 s or more, it
   * rejects with STALE (`applied` "unknown"), and the next one goes by the server's. Default true.
   */
  resident?: boolean;
  /**
   * So many replicas must have what is recorded before `record` resolves (WAIT); where fewer confirm before the store's
   * deadline it rejects, `applied` "unknown". Default 0: what Redis loses at a failover may have been acknowledged.
   */
  replicas?: number;
  /**
   * What calls do while the store is out of reach (DEADLINE, UNAVAILABLE, STALE): "throw" (default), or "local":
   * statistics come from this process's copy and its own events, which it keeps (within `maxPendingBytes`) and hands in
   * when the store is back; results then say `degraded`. Events that the store may have already, and those recorded before
   * it was ever reached, are not handed in: `store.on("error")` tells their number.
   */
  onStoreError?: "throw" | "local";
  /** Random u32, for tests that repeat themselves. */
  entropy?: () => number;
}

export interface SeriesSettings {
  retentionMs: number;
  valueType: number;
  clock: number;
  nan: NanPolicy;
  maxPendingBytes: number;
  maxResidentBytes: number;
  isResident: boolean;
  replicas: number;
  isLocalOnError: boolean;
  entropy: () => number;
}

const OPTIONS = [
  "retention",
  "values",
  "clock",
  "nan",
  "maxPendingBytes",
  "maxResidentBytes",
  "resident",
  "replicas",
  "onStoreError",
  "entropy",
];
const MOST_REPLICAS = 1000;
/** Five years: a chunk, a 64th of it, stays below the 45 days after which it must be closed. */
const LONGEST_RETENTION_MS = 5 * 365 * 86_400_000;

export function seriesSettings(options: SeriesOptions): SeriesSettings {
  checkKnown(options, OPTIONS);
  const { values = "float32", clock = "server", nan = "reject" } = options;
  if (values !== "float32" && values !== "float64") throw argumentError("values", values, '"float32" or "float64"');
  if (clock !== "server" && clock !== "event") throw argumentError("clock", clock, '"server" or "event"');
  policyOf(nan);
  const { replicas = 0 } = options;
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > MOST_REPLICAS)
    throw argumentError("replicas", replicas, `a whole number of replicas from 0 to ${MOST_REPLICAS}`);
  const { resident = true } = options;
  if (typeof resident !== "boolean") throw argumentError("resident", resident, "true or false");
  const { onStoreError = "throw" } = options;
  if (onStoreError !== "throw" && onStoreError !== "local")
    throw argumentError("onStoreError", onStoreError, '"throw" or "local"');
  return {
    retentionMs: durationMs("retention", options.retention ?? "1h", 1, LONGEST_RETENTION_MS),
    valueType: values === "float64" ? 1 : 0,
    clock: clock === "event" ? 1 : 0,
    nan,
    maxPendingBytes: byteBound("maxPendingBytes", options.maxPendingBytes ?? 8 << 20),
    maxResidentBytes: byteBound("maxResidentBytes", options.maxResidentBytes ?? 512 << 20),
    isResident: resident,
    replicas,
    isLocalOnError: onStoreError === "local",
    entropy: options.entropy ?? randomU32,
  };
}
