/** What a drain tells, and with what. */
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
  deposed: { fence: number };
  /** The table and the store do not fit, after a restore, say: the shard is left alone until this process ends. */
  diverged: { shard: number; reason: string };
  /** What failed; it is tried again in the next cycle. `shard`: none where all of the cycle failed. */
  error: { shard?: number; error: unknown };
}

export const DRAIN_EVENTS: Record<keyof DrainEvents, true> = {
  cycle: true,
  shard: true,
  lag: true,
  skipped: true,
  deposed: true,
  diverged: true,
  error: true,
};

export interface CycleReport {
  /** Shards whose counts went into the table, shards that failed, shards that are left alone. */
  drained: number;
  failed: number;
  diverged: number;
  rows: number;
  events: bigint;
  durationMs: number;
}
