// The record of semaphores that TypeScript and Lua share (see layouts/README.md).

export const enums = {
  STATUS: { refused: 0, acquired: 1 },
};

export const records = {
  // Refused: ms until enough permits are free if no one releases or extends one. Acquired: 0.
  ACQUIRED: [
    ["status", "u8"],
    ["retryInMs", "f64", "retry_in"],
  ],
};
