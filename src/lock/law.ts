/** The lock's constants, as lua/lock/law.lua has them. */
export const law = {
  /** A holder that is not ours tells nobody when it goes: waiters look again after this at the latest. */
  strangerMs: 100,
  /** How long the last fence is kept after the clock has passed it. */
  fenceLifeMs: 604_800_000,
  /** 2^53 - 1. */
  largestFence: 9_007_199_254_740_991,
  /** For how long a freed lock is kept for the process that was called: what a dead one costs. */
  promiseMs: 150,
  /** Where releases follow each other, a second process is called this often at most. */
  watchMs: 50,
  /** A process that has not asked for so long has lost its place. */
  placeLifeMs: 10_000,
  /** Processes that wait for one lock in turn; more wait without a place until they ask again. */
  mostPlaces: 256,
} as const;
