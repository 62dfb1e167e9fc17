// The constants, enums and records of locks that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // Holders of other programs do not announce their release, so waiters poll at this interval.
  FOREIGN_POLL_MS: 100,
  // The key of the last fence expires this long after the end of the fence's day.
  FENCE_LIFE_MS: 604_800_000,
  DAY_MS: 86_400_000,
  DAY_US: 86_400_000_000,
  MAX_FENCE: Number.MAX_SAFE_INTEGER,
  // A free lock stays reserved for the notified waiter for this long: the cost of a dead waiter.
  RESERVATION_MS: 150,
  // When releases follow each other, a second waiter is notified at most this often.
  SECOND_NOTICE_MS: 50,
  // A process that has not asked for this long has lost its place in the queue.
  PLACE_LIFE_MS: 10_000,
  // Processes in the queue of one lock. Others have no place until they ask again.
  MAX_PLACES: 256,
  // The text of a queue (lua/lock/queue.lua).
  HEAD_LENGTH: 26,
  ID_LENGTH: 16,
  PLACE_LENGTH: 29,
};

export const enums = {
  STATUS: { refused: 0, acquired: 1 },
};

export const records = {
  // Acquired: the fence. Refused: ms until a retry is worthwhile.
  ACQUIRED: [
    ["status", "u8"],
    ["number", "f64"],
  ],
  INSPECTED: [
    ["leftMs", "f64"],
    ["nowMs", "f64", "now"],
    ["tokenBytes", "u32", "token_bytes"],
    ["fenceBytes", "u32", "fence_bytes"],
  ],
  READERS: [
    ["count", "u32"],
    ["untilMs", "f64"],
  ],
};
