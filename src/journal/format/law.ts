import * as layout from "../../generated/layouts/journal.ts";

/**
 * The journal's constants. Those that Lua needs too are declared in layouts/journal.mjs.
 * They are rules, not settings: the protocol's proof rests on void time + network < dedupe span.
 */
export const law = {
  format: layout.FORMAT,
  /** Of a summary: 128, and the format of what it says. */
  summaryFormat: layout.SUMMARY_FORMAT,
  /** How long after it was built an append may be stored; all its copies get stamps of the `dedupeMs` up to then. */
  voidAfterMs: 10_000,
  /** Readers count a (producer, sequence) once per this much journal time. */
  dedupeMs: layout.DEDUPE_MS,
  /** How far ahead of the server's clock an event's own time may lie. */
  earlyMs: layout.EARLY_MS,
  expirySlackMs: layout.EXPIRY_SLACK_MS,
  /** A clock that is further behind the last stamp than this is told as degraded. */
  clockSlackMs: 1000,
  /** A read that lasts longer takes a new cut. */
  longestReadMs: 30_000,
  /** At least the largest frame, 786 kB: a reader takes whole frames only. */
  pageBytes: layout.PAGE_BYTES,
  /** 1 MiB less room for the appends under way: a closed chunk then fits the allocator's class of 1 MiB. */
  rotateBytes: layout.ROTATE_BYTES,
  appendBytes: 1 << 20,
  fullBytes: layout.FULL_BYTES,
  oldestChunkMs: layout.OLDEST_CHUNK_MS,
  chunksPerRetention: layout.CHUNKS_PER_RETENTION,
  shortestChunkMs: layout.SHORTEST_CHUNK_MS,
  /** What is computed inside Redis, which serves nobody else meanwhile: so many events inside, of so many bytes read. */
  mostServerEvents: layout.MAX_SERVER_EVENTS,
  mostServerBytes: layout.MAX_SERVER_BYTES,
  /** More do not live at once, but of those that were closed because they were large. */
  mostServerChunks: layout.MAX_SERVER_CHUNKS,
  /** What a reader that holds nothing is given in one answer: so many bytes, the open chunk's among them, and closed chunks. */
  coldBytes: 4 << 20,
  mostFoundChunks: layout.MAX_CLOSED_CHUNKS,
  /** Events that a digest of a summary stands for: fewer are as well read as they are. */
  leastInDigest: 256,
};
