/** The times that exactness over failovers rests on; test/counter/simulator takes them away one by one. */
export const law = {
  /** For how long what was acknowledged may still be lost in a failover. */
  keptMs: 10_000,
  /** After this what was acknowledged last is asked for once more: given.ts then lets go of it. */
  checkMs: 11_000,
  /** A drainer forgets a mark that has not moved for an hour: whoever was silent for so long takes a new one. */
  longestSilenceMs: 1_200_000,
};
