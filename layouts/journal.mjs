// The constants and records of a series' journal that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  FORMAT: 1,
  // A closed chunk with the same events in fewer bytes.
  SEALED_FORMAT: 2,
  EARLY_MS: 60_000,
  EXPIRY_SLACK_MS: 60_000,
  PAGE_BYTES: 1 << 20,
  // From this length on, reading a whole frame costs more than a second command for its header.
  LONG_FRAME_BYTES: 2048,
  ROTATE_BYTES: (1 << 20) - (32 << 10),
  FULL_BYTES: 64 << 20,
  OLDEST_CHUNK_MS: 45 * 86_400_000,
  CHUNKS_PER_RETENTION: 64,
  SHORTEST_CHUNK_MS: 1000,
  DEDUPE_MS: 20_000,
  MAX_CLOSED_CHUNKS: 128,
  MAX_OUTLINES: 1024,
};

const RECORDED_START = [
  ["status", "u32"],
  ["length", "u32"],
  ["nowMs", "f64", "now"],
  ["stampMs", "f64", "stamp"],
];
const CHUNK_TIMES = [
  ["lastStampMs", "f64", "last"],
  ["retentionMs", "f64", "retention"],
  ["completeSinceMs", "f64", "complete"],
  ["latestMs", "f64", "latest"],
];

export const records = {
  // The header of a chunk. All times are server ms, except `latestMs` (event time). The lowest bit of `clockAndGuard` is the
  // clock; the others are the guard: for how many ms after the creation requests from before a delete are void.
  CHUNK: [
    ["format", "u8"],
    ["valueType", "u8"],
    ["clockAndGuard", "u16"],
    ["chunkMs", "u32", "chunk_ms"],
    ["number", "f64"],
    ["createdMs", "f64", "created"],
    ["birth", "u32"],
    ["birthBefore", "u32"],
    ...CHUNK_TIMES,
  ],
  // The part of that header that appends change.
  CHUNK_TIMES,
  // The header of a frame: one producer's batch. `flags` is format << 4 | own times << 1 | f64 values.
  FRAME: [
    ["flags", "u8"],
    ["zero", "u8"],
    ["count", "u16"],
    ["producer", "u32"],
    ["sequence", "u32"],
    ["sinceCreationMs", "u32", "since_creation"],
  ],
  // What append, read and rotate answer. The chunk's header follows if there is a chunk, then the verdicts, then bytes.
  ANSWER: [
    ["status", "u8"],
    ["continued", "u8"],
    ["verdicts", "u16"],
    ["from", "u32"],
    ["nowMs", "f64", "now"],
    ["length", "u32"],
    ["zero", "u32"],
  ],
  // What a caller already has of a chunk. The last frame's header follows, which stands at `place` (0: none).
  KNOWN: [
    ["number", "f64"],
    ["birth", "u32"],
    ["length", "u32"],
    ["place", "u32"],
  ],
  // The window for which closed chunks are wanted.
  LOOKBACK: [
    ["spanMs", "f64", "span"],
    ["fromMs", "f64", "from"],
    ["maxBytes", "u32", "max_bytes"],
  ],
  // The window whose outlines are wanted. It begins as LOOKBACK. `toMs` counts only if it is dated; else it is the present.
  OUTLINE_QUERY: [
    ["spanMs", "f64", "span"],
    ["fromMs", "f64", "from"],
    ["maxBytes", "u32", "max_bytes"],
    ["toMs", "f64", "to"],
    ["isDated", "u8", "dated"],
    ["isBothClosed", "u8", "both"],
    ["hasPercentiles", "u8", "percentiles"],
  ],
  // The sealed chunk whose parts are wanted, and where each part is.
  PARTS: [
    ["birth", "u32", "seen_birth"],
    ["checksum", "u32", "seen_checksum"],
  ],
  PART: [
    ["from", "u32"],
    ["length", "u32"],
  ],
  // The answer: status 0 and the parts, or 1.
  PARTS_ANSWER: [["status", "u8"]],
  // The length of the answer that follows.
  SIZED: [["length", "u32"]],
  // Closed chunks after an answer. The length of each chunk follows, u32 each, then the chunks.
  CLOSED_CHUNKS: [
    ["missing", "u32"],
    ["count", "u32"],
  ],
  // The first argument of append.
  APPEND: [
    ["valueType", "u8", "asked_type"],
    ["clock", "u8", "asked_clock"],
    ["zero", "u16"],
    ["birth", "u32", "drawn_birth"],
    ["retentionMs", "f64", "asked"],
    ["voidAfterMs", "f64", "void_after"],
  ],
  // One frame of an append that the step has to judge.
  FRAME_META: [
    ["size", "u32"],
    ["earliestMs", "f64", "earliest"],
    ["latestMs", "f64", "newest"],
  ],
  // The fast path for one event: its frame with one value (f32 or f64), and the limits of append.
  RECORD: [
    ["flags", "u8"],
    ["zero", "u8"],
    ["count", "u16"],
    ["producer", "u32"],
    ["sequence", "u32"],
    ["sinceCreationMs", "u32", "since_creation"],
    ["value", "f64"],
    ["retentionMs", "f64", "asked"],
    ["voidAfterMs", "f64", "void_after"],
  ],
  // The last fields of RECORD, which the step reads apart from the frame.
  RECORD_LIMITS: [
    ["retentionMs", "f64", "asked"],
    ["voidAfterMs", "f64", "void_after"],
  ],
  // The reply of that fast path, up to the part of the chunk's header that follows: `chunkMs` to `birth`.
  RECORDED_START,
  RECORDED: [
    ...RECORDED_START,
    ["chunkMs", "u32", "chunk_ms"],
    ["number", "f64"],
    ["createdMs", "f64", "created"],
    ["birth", "u32"],
  ],
  // A sealed chunk after its header: the end of the chunk before it was sealed (as in KNOWN), the places of its parts, and the
  // statistics of all its events.
  SEALED: [
    ["rawLength", "u32"],
    ["rawPlace", "u32"],
    ["rawFrame", "16"],
    ["checksum", "u32"],
    ["recordChecksum", "u32"],
    ["headsChecksum", "u32"],
    ["count", "u32"],
    ["blockCount", "u32"],
    ["totalsPlace", "u32"],
    ["namesPlace", "u32"],
    ["blocksPlace", "u32"],
    ["sizeBytes", "u32"],
    ["earliestMs", "f64", "earliest"],
    ["latestMs", "f64", "latest"],
    ["min", "f64"],
    ["max", "f64"],
    ["sumHigh", "f64"],
    ["sumLow", "f64"],
    ["m2", "f64"],
    ["nanCount", "u32"],
    ["positiveInfinityCount", "u32"],
    ["negativeInfinityCount", "u32"],
  ],
  // A range of the last frames of a sealed chunk. A later chunk may have copies of them.
  SEALED_RANGE: [
    ["producer", "u32"],
    ["first", "u32"],
    ["count", "u32"],
    ["lastSinceCreationMs", "u32"],
  ],
};
