import type { DivergedState } from "./shard-drain.ts";

/**
 * The events of a drain. All work with JSON.stringify: bigints become numbers up to 2^53 - 1, and decimal text above
 * it.
 */
export interface DrainEvents {
  /** A cycle has ended. */
  cycle: CycleReport;
  /** A generation of a shard is in the table. */
  shard: { shard: number; generation: number; rows: number; events: bigint; sqlMs: number };
  /** The number of shards whose counts did not reach the table in the last cycle, and the longest wait. */
  lag: { shards: number; longestMs: number };
  /** A cycle was skipped because the previous one still runs. */
  skipped: { runningMs: number };
  /** Another process drains with a higher fence, or the lock was lost. `fence` is null if the lock has none. */
  superseded: { fence: number | null };
  /** Table and store do not fit. These shards are skipped until they fit or are repaired. Emitted once per change. */
  diverged: DivergedShards;
  /** Shards that had diverged or failed drain again. Emitted once per change. */
  recovered: { shards: number[] };
  /** A shard or the whole cycle failed, and is tried again in the next cycle. Emitted once per change. */
  error: DrainFailure;
}

export const DRAIN_EVENTS: Record<keyof DrainEvents, true> = {
  cycle: true,
  shard: true,
  lag: true,
  skipped: true,
  superseded: true,
  diverged: true,
  recovered: true,
  error: true,
};

/** Shards that are not drained, because store and table do not match. */
export interface DivergedShards {
  shards: number[];
  /** The first shard, and why it diverged. */
  shard: number;
  reason: string;
  state: DivergedState;
  /** The page of the runbook: a path in the folder of the package. */
  runbook: string;
}

/** Shards that could not be drained in a cycle, and why. They are tried again. */
export interface DrainFailure {
  /** Empty if the whole cycle failed. */
  shards: number[];
  /** The first shard, and its error. */
  shard?: number;
  error: unknown;
  /** The page of the runbook, if waiting does not help: a path in the folder of the package. */
  runbook?: string;
}

/** The work of one cycle of a drain, by shards, rows and events. */
export interface CycleReport {
  /** The number of shards whose counts reached the table, of failed shards, and of skipped shards. */
  drained: number;
  failed: number;
  diverged: number;
  rows: number;
  events: bigint;
  durationMs: number;
}
