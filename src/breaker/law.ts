/** The breaker's constants; lua/breaker/law.lua holds the same, a test compares them. */
export const law = {
  format: 1,
  /** How long after its last batch, and the span, a process is remembered: longer than a batch can be under way. */
  processLifeMs: 60_000,
  /** How long after its cooldown an open circuit is kept where nobody calls. */
  openLifeMs: 86_400_000,
  /** Processes of which the last batch is known; of more, those that were silent longest are forgotten. */
  mostProcesses: 1024,
} as const;
