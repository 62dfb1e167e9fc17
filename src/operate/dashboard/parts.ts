// Messages of the parts of each kind (`api/part`), as JSON. Times are ms since 1970 by the server's clock.

import type { ProcessEntry, WindowNumbers } from "./protocol.ts";

/** The rows of groups of a window. */
export interface GroupsPart {
  fromMs: number;
  toMs: number;
  /** The declared labels. */
  labels: readonly string[];
  /** The labels of a row. */
  by: readonly string[];
  /** All groups together. */
  whole: WindowNumbers;
  /** Rows in all. */
  count: number;
  /** Events that count as `_other`. */
  others: number;
  /** The first ones in the order that the page asked for, at most 100. */
  rows: readonly GroupLine[];
}

export interface GroupLine {
  /** Of the labels of the row, in their order. */
  values: readonly string[];
  count: number;
  /** Events per second. */
  rate: number | null;
  mean: number | null;
  p50: number | null;
  p90: number | null;
  p99: number | null;
  max: number | null;
}

export interface QueueState {
  waiting: number;
  due: number;
  claimed: number;
  dead: number;
  isPaused: boolean;
  /** How long the oldest due message has been due. */
  lagMs: number;
}

export interface QueueMessage {
  /** No other message has it, also under `maskIds`. */
  key: string;
  /** In part, under `maskIds`. */
  id: string;
  /** Waiting: when it is due. Dead: when it died. */
  atMs: number;
  addedAtMs: number;
  attempt: number;
  attempts: number;
  priority: number;
  /** Why the last delivery failed. "…" under `maskIds`. */
  error: string | null;
  /** Null under `maskIds`. */
  payload: PayloadText | null;
}

/** A payload as text. It is cut above 2000 characters, or 512 bytes. */
export interface PayloadText {
  form: "json" | "text" | "hex" | "corrupt";
  text: string;
  isCut: boolean;
}

export interface BreakerPart {
  state: "closed" | "open" | "half-open";
  /** When the circuit entered the state. Of a closed one that nobody had used: when it was first read. */
  sinceMs: number;
  nowMs: number;
  /** In the window. If the circuit is not closed: the counts that opened it. */
  calls: number;
  failures: number;
  slow: number;
  /** Until a probe may pass; 0 if the circuit is closed. */
  retryAfterMs: number;
  /** For which an order still decides; 0 without one. */
  forcedMs: number;
  /** That called within the span, and those of them that see failures. */
  processes: number;
  failing: number;
}

export interface LockPart {
  isHeld: boolean;
  /** Null if the lock is free. */
  fence: number | null;
  /** Null if the lock is free. */
  heldMs: number | null;
  leftMs: number;
  waitingProcesses: number;
  /** Of a read-write lock, whose holder is then a writer. */
  readers?: { count: number; untilMs: number };
}

export interface SemaphorePart {
  /** Null if the registry does not name it. */
  limit: number | null;
  inUse: number;
  /** The holds that end first, at most 50. */
  holds: readonly { permits: number; leftMs: number }[];
}

export interface CountersPart {
  nowMs: number;
  /** Events in the store that no table has acknowledged, as decimal digits. */
  waiting: string;
  /** Events that were ever counted, as decimal digits. Null without a sink. */
  total: string | null;
  hasSink: boolean;
  shards: readonly ShardPart[];
}

export interface ShardPart {
  shard: number;
  /** The last generation that its table has acknowledged. */
  generation: number;
  waiting: string;
  /** How long the oldest generation has been ready for the table. Null if a drain has not begun one. */
  lagMs: number | null;
  /** Of `CountersDoctor`; null without a sink. */
  verdict: string | null;
  /** Events that the table may already have. */
  inDoubt: string;
  note: string;
}

export interface FleetPart {
  intervalMs: number;
  /** The names with the most calls, at most 50. */
  names: readonly FleetName[];
  /** All names together. */
  total: FleetCounts;
  /** Names with numbers, in all. */
  count: number;
  /** The processes that have announced structures within an hour. */
  processes: readonly ProcessEntry[];
}

export interface FleetCounts {
  allowed: number;
  denied: number;
  success: number;
  failure: number;
}

export interface FleetName extends FleetCounts {
  /** "" for all names without numbers of their own. */
  name: string;
  /** Null without one. */
  meanLatencyMs: number | null;
  maxLatencyMs: number | null;
}

/** What happened per second, by outcome and policy, one number for each bucket, oldest first. Empty without a history. */
export interface OutcomeHistory {
  fromMs: number;
  toMs: number;
  /** Ends of the buckets. A bucket begins where the one before it ends, and the first one at `fromMs`. */
  endsMs: readonly number[];
  outcomes: readonly {
    /** Of a limiter allowed, denied and shadow; of a queue completed, failed and dead. */
    outcome: string;
    /** "" of a queue. */
    policy: string;
    /** In the window. */
    total: number;
    perSecond: readonly number[];
  }[];
}

/** An id that was denied in the last hour. */
export interface DeniedId {
  /** No other id has it, also under `maskIds`. */
  key: string;
  /** In part, under `maskIds`. */
  id: string;
  count: number;
  /** The decision about its next call. Null for ids far down the list. */
  now: {
    isDenied: boolean;
    /** Null if it would never pass. */
    waitMs: number | null;
    policies: readonly { name: string; isShadow: boolean; isDenied: boolean; used: number; limit: number }[];
  } | null;
}

/** An opening of a circuit. */
export interface BreakerOpening {
  atMs: number;
  cause: "calls" | "probe" | "order";
  calls: number;
  failures: number;
  slow: number;
}
