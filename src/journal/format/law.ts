/**
 * The journal's constants, shared with lua/journal/law.lua (a test compares them).
 * They are rules, not settings: the protocol's proof rests on void time + network < dedupe span.
 */
export const law = {
  format: 1,
  /** Of a summary: 128, and the format of what it says. */
  summaryFormat: 129,
  /** How long after it was built an append may be stored; all its copies get stamps of the `dedupeMs` up to then. */
  voidAfterMs: 10_000,
  /** Readers count a (producer, sequence) once per this much journal time. */
  dedupeMs: 20_000,
  /** How far ahead of the server's clock an event's own time may lie. */
  earlyMs: 60_000,
  expirySlackMs: 60_000,
  /** A clock that is further behind the last stamp than this is told as degraded. */
  clockSlackMs: 1000,
  /** A read that lasts longer takes a new cut. */
  longestReadMs: 30_000,
  /** At least the largest frame, 786 kB: a reader takes whole frames only. */
  pageBytes: 1 << 20,
  /** 1 MiB less room for the appends under way: a closed chunk then fits the allocator's class of 1 MiB. */
  rotateBytes: (1 << 20) - (32 << 10),
  appendBytes: 1 << 20,
  fullBytes: 64 << 20,
  oldestChunkMs: 45 * 86_400_000,
  chunksPerRetention: 64,
  shortestChunkMs: 1000,
  /** What is computed inside Redis, which serves nobody else meanwhile: so many events inside, of so many bytes read. */
  mostServerEvents: 10_000,
  mostServerBytes: 512 << 10,
  /** More do not live at once, but of those that were closed because they were large. */
  mostServerChunks: 128,
  /** What a reader that holds nothing is given in one answer: so many bytes, the open chunk's among them, and closed chunks. */
  coldBytes: 4 << 20,
  mostFoundChunks: 128,
  /** Events that a digest of a summary stands for: fewer are as well read as they are. */
  leastInDigest: 256,
};
