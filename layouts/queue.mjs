// The constants and records of queues that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // The parts of a score: (band * BAND_SIZE + ms) * DELIVERIES_SIZE + deliveries, a whole number of 53 bits.
  BAND_SIZE: 2 ** 42,
  DELIVERIES_SIZE: 128,
  MAX_DELIVERIES: 127,
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
  // Ids of done messages are removed with every FORGET_AT results, and with fewer results every so many ms. A prime, so
  // that no periodic caller misses it every time.
  FORGET_AT: 16,
  FORGET_EVERY_MS: 17,
};

export const enums = {
  // Raw: the bytes are not a message, but were found in the place of one.
  PAYLOAD: { bytes: 0, json: 1, raw: 2 },
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
  ],
};
