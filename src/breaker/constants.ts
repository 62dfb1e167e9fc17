/** The breaker's constants. lua/breaker/constants.lua has the same values; a test compares them. */
export const constants = {
  format: 1,
  /** How long a process is remembered after its last batch and the span. Longer than a batch can be under way. */
  processLifeMs: 60_000,
  /** How long an open circuit is kept after its cooldown if no call comes. */
  openLifeMs: 86_400_000,
  /** Processes whose last batch is remembered. Beyond it, the longest silent process is forgotten. */
  maxProcesses: 1024,
} as const;
