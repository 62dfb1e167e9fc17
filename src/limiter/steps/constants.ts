/** The limiters' constants. lua/limiter/constants.lua has the same values; a test compares them. */
export const constants = {
  format: 1,
  /** How long a granted request keeps its answer. */
  requestLifeMs: 60_000,
  /** How long after its lease a reservation can still be settled. */
  settleGraceMs: 60_000,
  /** How long a settled reservation is remembered. Longer than a call is sent again. */
  settledLifeMs: 10_000,
  /** Settled reservations remembered for one id. Each call reads all of them. */
  maxSettled: 64,
  /** Open reservations of one id. */
  maxReservations: 1024,
  /** Permits times span of a leaky bucket or GCRA. Below 2^52 all of its numbers are whole. */
  maxLevel: 2 ** 52,
  /** Records of a sliding window: 48 MiB in Redis, copied in about 50 ms when it grows. */
  maxRecords: 2 ** 22,
  /** Every number of a state is a whole number from 0 to this one. Another number means damage. */
  maxNumber: 2 ** 53,
} as const;
