// The record of semaphores that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // Of one reply, which an operator reads.
  MAX_LISTED_PERMITS: 1000,
};

export const enums = {
  STATUS: { refused: 0, acquired: 1 },
};

export const records = {
  // Refused: ms until enough permits are free if no one releases or extends one. Acquired: 0.
  ACQUIRED: [
    ["status", "u8"],
    ["retryInMs", "f64", "retry_in"],
  ],
  HOLDS: [["count", "u32"]],
};
