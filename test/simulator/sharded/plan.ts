import type { Operation } from "../../../src/store/contract.ts";
import type { Second } from "./curves.ts";

export interface FleetPlan {
  seed: number;
  /** Light processes that record, and whole `ShardedSeries` that ask. */
  recorders: number;
  askers: number;
  primaries: number;
  /** The number of shards before and after the fleet has grown. */
  shards: readonly [before: number, after: number];
  seconds: number;
  /** Mean time between two moments at which a process records. */
  recordEveryMs: number;
  askEveryMs: number;
  /** Chunks are sealed. */
  seals?: boolean;
  /** Takes a rule out of a step. */
  alter?: (<I, O>(operation: Operation<I, O>) => Operation<I, O>) | undefined;
}

export const FULL_FLEET: FleetPlan = {
  ...{ seed: 1, recorders: 10_000, askers: 32, primaries: 64, shards: [32, 64] },
  ...{ seconds: 80, recordEveryMs: 4000, askEveryMs: 2000 },
};
export const SMALL_FLEET: FleetPlan = {
  ...{ seed: 1, recorders: 120, askers: 6, primaries: 8, shards: [4, 8] },
  ...{ seconds: 40, recordEveryMs: 1500, askEveryMs: 1500, seals: true },
};

export interface FleetOutcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly seconds: readonly Second[];
  readonly acknowledged: number;
  readonly failed: number;
  readonly mismatched: number;
  readonly copies: number;
  readonly answers: number;
  /** Compared with every event, only with bounds, and not at all because the list of shards could not be read or changed. */
  readonly exact: number;
  readonly bounded: number;
  readonly late: number;
  readonly killed: number;
  readonly paused: number;
  readonly virtualEvents: number;
}
