/** The limiters' constants; lua/limiter/law.lua holds the same, a test compares them. */
export const law = {
  format: 1,
  /** How long a granted request's answer is given again. */
  requestLifeMs: 60_000,
  /** How long after its lease a reservation may still be settled. */
  settleGraceMs: 60_000,
  /** Reservations of one id that are open at a time. */
  mostHeld: 1024,
  /** Permits times span of a funnel or GCRA: below 2^52 everything is counted in whole numbers. */
  mostLevel: 2 ** 52,
} as const;
