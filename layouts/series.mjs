// The records and constants of the answers that the processes of a series share, for TypeScript and Lua (see layouts/README.md).

export const constants = {
  FORMAT: 1,
  // A process that computes an answer has at most this long before another one may begin too.
  CLAIM_MS: 1000,
  LONGEST_KEEP_MS: 86_400_000,
};

export const enums = {
  // What an asking process does: takes the answer, computes it, waits for another process that computes it, or nothing.
  ASKED: { fresh: 0, claimed: 1, wait: 2, stop: 3 },
};

export const records = {
  // The state of one question. The bytes of the last answer follow, if there is one.
  SHARED: [
    ["format", "u32"],
    ["publisher", "u32"],
    ["claimant", "u32"],
    // The answer has all events that were acknowledged before this time of the server.
    ["asOfMs", "f64", "as_of"],
    ["claimEndMs", "f64", "claim_end"],
    // The smallest maximum age with which another process has asked for the answer; 0: none has.
    ["wantedMs", "f64", "wanted"],
    ["expiresMs", "f64", "expires"],
  ],
  // The reply of `ask`. The answer follows if it is fresh.
  ASK_REPLY: [
    ["status", "u32"],
    ["nowMs", "f64", "now"],
    ["asOfMs", "f64", "as_of"],
    ["wantedMs", "f64", "wanted"],
  ],
};
