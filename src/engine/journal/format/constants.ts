import * as layout from "../../../generated/layouts/journal.ts";

/** The value type of a journal of groups: its f64 values are pairs of a group number and the key of an f32 value. */
export const VALUE_PAIR = 5;

/**
 * The journal's constants. Those that Lua needs too are declared in layouts/journal.mjs. They are not settings: the protocol is
 * proved for `voidAfterMs` plus the network's delay below `dedupeMs`.
 */
export const constants = {
  format: layout.FORMAT,
  /** The format of a closed chunk with the same events in fewer bytes. */
  sealedFormat: layout.SEALED_FORMAT,
  /** An append may be stored for this long after it was built. Stamps of all its copies lie in the `dedupeMs` before that end. */
  voidAfterMs: 10_000,
  /** Readers count a (producer, sequence) once within this much journal time. */
  dedupeMs: layout.DEDUPE_MS,
  /** Largest lead of an event's own time over the server's clock. */
  earlyMs: layout.EARLY_MS,
  expirySlackMs: layout.EXPIRY_SLACK_MS,
  /** If the clock is behind the last stamp by more than this, results are degraded. */
  clockSlackMs: 1000,
  /** A read that takes longer begins again. */
  maxReadMs: 30_000,
  /** At least the largest frame, 786 kB, because readers use whole frames only. */
  pageBytes: layout.PAGE_BYTES,
  /** 1 MiB minus room for appends under way, so that a closed chunk fits the allocator's size class of 1 MiB. */
  rotateBytes: layout.ROTATE_BYTES,
  /** In a process that seals, a chunk is closed earlier: a reader fetches less of what is not sealed yet. */
  sealedRotateBytes: 256 << 10,
  /** A chunk of `minIdleBytes` is closed this long after its last event. While events come, length × age count. */
  idleMs: 5000,
  minIdleBytes: 16 << 10,
  /** A chunk is sealed this long after it was closed, and a random part of the spread. Readers that have it first get its last bytes. */
  sealAfterMs: 2000,
  sealSpreadMs: 4000,
  /** Smaller chunks are not sealed. */
  minSealedBytes: 4096,
  appendBytes: 1 << 20,
  fullBytes: layout.FULL_BYTES,
  maxChunkAgeMs: layout.OLDEST_CHUNK_MS,
  chunksPerRetention: layout.CHUNKS_PER_RETENTION,
  minChunkMs: layout.SHORTEST_CHUNK_MS,
  /** The cost of a request beside its bytes: a client of a local network reads about as much in the time of a round trip. */
  requestBytes: 16 << 10,
  /** Bounds of the first answer to a reader without a copy: bytes, including the open chunk, and closed chunks. */
  firstReadBytes: 4 << 20,
  maxClosedChunks: layout.MAX_CLOSED_CHUNKS,
  /** The same where only the outlines of sealed chunks are answered. */
  maxOutlines: layout.MAX_OUTLINES,
};
