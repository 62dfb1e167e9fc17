/** The counters' constants, as lua/counter/law.lua has them. */
export const law = {
  /** A producer that was not heard of for so long is forgotten; it takes a new name long before. */
  producerLifeMs: 3_600_000,
} as const;
