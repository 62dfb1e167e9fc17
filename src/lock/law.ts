/** The lock's constants, as lua/lock/law.lua has them. */
export const law = {
  /** A holder that is not ours tells nobody when it goes: waiters look again after this at the latest. */
  strangerMs: 100,
  /** How long the last fence is kept after the clock has passed it. */
  fenceLifeMs: 604_800_000,
  /** 2^53 - 1. */
  largestFence: 9_007_199_254_740_991,
} as const;
