/** The limiters' constants; lua/limiter/law.lua holds the same, a test compares them. */
export const law = {
  format: 1,
  /** How long a granted request's answer is given again. */
  requestLifeMs: 60_000,
  /** How long after its lease a reservation may still be settled. */
  settleGraceMs: 60_000,
  /** How long a settled reservation is known to be so: longer than a call is sent again. */
  settledLifeMs: 10_000,
  /** Settled reservations of one id that are known: each call reads all of them. */
  mostSettled: 64,
  /** Reservations of one id that are open at a time. */
  mostHeld: 1024,
  /** Permits times span of a leaky bucket or GCRA: below 2^52 everything is counted in whole numbers. */
  mostLevel: 2 ** 52,
  /** Of a sliding window: 48 MiB, copied in some 50 ms when it grows. */
  mostRecords: 2 ** 22,
  /** No number in a state is larger, or below 0, or no whole one: what is, is damaged. */
  mostNumber: 2 ** 53,
} as const;
