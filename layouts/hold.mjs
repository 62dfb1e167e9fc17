// The constants and records of holds that TypeScript and Lua share (see layouts/README.md). lua/hold/turn.lua draws the state.

const LENGTHS = { PROCESS_LENGTH: 14, TOKEN_LENGTH: 20 };

export const constants = {
  FORMAT: 1,
  // A token is the id of a process and a number of six characters.
  ...LENGTHS,
  // A record and its token.
  HOLD_LENGTH: 21 + LENGTHS.TOKEN_LENGTH,
  PLACE_LENGTH: 12 + LENGTHS.TOKEN_LENGTH,
  // A waiter of another process confirms within this time that it takes the hold: the cost of a dead waiter.
  TRIAL_MS: 150,
  // While another hold is on trial, a waiter asks after this time, in case the process that gave it has died too.
  AFTER_TRIAL_MS: 1000,
  // Waiters of one name. Others have no place until they ask again.
  MAX_PLACES: 1024,
  // The key expires so long after the end of the last lease.
  NUMBER_LIFE_MS: 604_800_000,
  MAX_NUMBER: Number.MAX_SAFE_INTEGER,
};

export const records = {
  HEAD: [
    ["format", "u8"],
    ["trials", "u16"],
    ["count", "u32"],
    ["used", "f64"],
    ["firstEndMs", "f64", "first_end"],
    ["lastEndMs", "f64", "last_end"],
    ["last", "f64"],
  ],
  // The token follows.
  HOLD: [
    ["number", "f64"],
    ["permits", "u32"],
    ["endMs", "f64", "ends"],
    ["isOnTrial", "u8", "on_trial"],
  ],
  // The token follows.
  PLACE: [
    ["permits", "u32"],
    ["limit", "u32"],
    ["leaseMs", "u32", "lease"],
  ],
  // The granted follow.
  ANSWER: [
    ["isReleased", "u8", "is_released"],
    ["isAlone", "u8", "is_alone"],
    ["begunTrials", "u16", "begun"],
    ["nextMs", "f64", "next_ms"],
  ],
  // The state follows.
  LOOKED: [["nowMs", "f64", "now"]],
  // The token follows.
  GRANTED: [["number", "f64"]],
};
