/** The times on which exactness across failovers depends. test/counter/simulator removes them one by one. */
export const failoverTimes = {
  /** How long after its acknowledgement a batch may still be lost in a failover. */
  keptMs: 10_000,
  /** After this time the last acknowledged batch is checked once more, and unconfirmed-batches.ts then drops it. */
  checkMs: 11_000,
  /**
   * A producer that was silent for this long takes a new mark. A drain deletes marks that have not moved for an hour.
   */
  longestSilenceMs: 1_200_000,
};
