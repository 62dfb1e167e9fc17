// The constants, enums and records of queues that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // The parts of a score: (band * BAND_SIZE + ms) * DELIVERIES_SIZE + deliveries, a whole number of 53 bits.
  BAND_SIZE: 2 ** 42,
  DELIVERIES_SIZE: 128,
  MAX_DELIVERIES: 127,
  MAX_PRIORITY: 9,
  // Bands 0 to 9 are the priorities of waiting messages.
  CLAIMED: 10,
  DEAD: 11,
  DONE: 12,
  // Hexadecimal digits of a seq, which begins each member and each stored message.
  SEQ_DIGITS: 14,
  // Bytes of the messages that one call claims or lists, unless a single message is larger.
  MAX_BYTES: 1 << 20,
  // Messages that a claim reads at a time.
  CLAIMED_AT_A_TIME: 32,
  // Ids of done messages that are remembered.
  MAX_DEDUPE_IDS: 100_000,
  // For so long the nonces of cancelled messages are remembered.
  CANCELLED_MS: 600_000,
  // An empty shard expires so long after the last id that it remembers. Then nothing is forgotten early when a clock is
  // set back a little, or its keys move to a node with another clock.
  LINGER_MS: 1000,
  // Ids of done messages are removed with every FORGET_AT results, and with fewer results every so many ms. A prime, so
  // that no periodic caller misses it every time.
  FORGET_AT: 16,
  FORGET_EVERY_MS: 17,
  // Ids that one call removes.
  MAX_FORGOTTEN: 1000,
  // Why a message failed whose last claim lapsed.
  LAPSED: "lapsed",
};

export const enums = {
  // Raw: the bytes are not a message, but were found in the place of one.
  PAYLOAD: { bytes: 0, json: 1, raw: 2 },
  ADDED: { known: 0, added: 1 },
  EXTENDED: { stale: 0, extended: 1 },
  MOVE: { unknown: 0, moved: 1, claimed: 2, dead: 3 },
  // What became of a message that is not done.
  VERB: { retry: "r", release: "b", again: "a", dead: "x", corrupt: "c" },
  // Stale: this delivery does not hold the message. Repeated: nor does it, but an earlier call stored this result.
  RESULT: { stale: 0, settled: 1, repeated: 2 },
};

export const records = {
  // The header of a message. Its payload follows. Numbers of several bytes are big-endian, and only clients read them.
  ENVELOPE: [
    ["maxDeliveries", "u8"],
    ["priority", "u8"],
    ["payload", "u8"],
    ["zero", "u8"],
    ["firstPauseMs", "f64"],
    ["pauseFactor", "f64"],
    ["longestPauseS", "u32"],
    // Random, and the same in all copies of the request that adds it.
    ["nonce", "4"],
  ],
  COUNTS: [
    // Not yet due.
    ["waiting", "f64"],
    ["due", "f64"],
    // Including lapsed claims.
    ["claimed", "f64"],
    ["dead", "f64"],
    ["isPaused", "f64"],
    // How long the oldest due message has been due; 0 without one.
    ["lagMs", "f64"],
    ["nowMs", "f64", "now"],
  ],
  REDRIVEN: [
    ["moved", "f64"],
    // Messages of the earliest dead that stay dead.
    ["corruptCount", "f64"],
  ],
  // The reply to peek. The messages follow.
  PEEKED: [["nowMs", "f64", "now"]],
  // The reply to get. The stored message follows, then SIZED and why it last failed.
  FOUND: [
    ["score", "f64"],
    ["length", "u32"],
  ],
  // A listed message. Its id follows, then SIZED and the stored message, then SIZED and why it last failed.
  LISTED: [
    ["score", "f64"],
    ["idLength", "u32"],
  ],
  // The length of what follows.
  SIZED: [["length", "u32"]],
  // The reply to results. `nextMs`: when the next message can be claimed; now: unknown, +inf: there is none. One byte of
  // RESULT for each result follows, then DIED.
  SETTLED: [
    ["nowMs", "f64", "now"],
    ["nextMs", "f64", "next_ms"],
    ["results", "u16"],
  ],
  // Number of messages that died. MessagePack follows.
  DIED: [["count", "u16"]],
};
