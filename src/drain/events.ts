import type { Misfit } from "./shard-drain.ts";

/** What a drain tells, and with what. JSON.stringify takes all: bigints become numbers up to 2^53 - 1, above it decimal text. */
export interface DrainEvents {
  /** A cycle has ended. */
  cycle: CycleReport;
  /** A generation of a shard is in the table, or was found to be. */
  shard: { shard: number; generation: number; rows: number; events: bigint; sqlMs: number };
  /** Counts that wait: so many shards whose last cycle did not get them into the table, the longest for so long. */
  lag: { shards: number; longestMs: number };
  /** A tick that found the cycle before it still running. */
  skipped: { runningMs: number };
  /** Somebody else leads: with a higher fence, or the lock was lost. */
  superseded: { fence: number };
  /** The table and the store do not fit: these shards are left alone until they do, or are repaired. Once per change. */
  diverged: DivergedShards;
  /** Shards that had diverged or failed, and drain again. Once per change. */
  recovered: { shards: number[] };
  /** What failed; it is tried again in the next cycle. Once per change of a shard, or of all of the cycle. */
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

export interface DivergedShards {
  shards: number[];
  /** The first of them, and why it diverged. */
  shard: number;
  reason: string;
  state: Misfit;
  /** The page that says what to do. */
  runbook: string;
}

export interface DrainFailure {
  /** None where all of the cycle failed. */
  shards: number[];
  /** The first of them, and its error. */
  shard?: number;
  error: unknown;
  /** The page that says what to do, where waiting does not help. */
  runbook?: string;
}

export interface CycleReport {
  /** Shards whose counts went into the table, shards that failed, shards that are left alone. */
  drained: number;
  failed: number;
  diverged: number;
  rows: number;
  events: bigint;
  durationMs: number;
}
