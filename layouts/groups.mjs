// The constants and records of the names of groups that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // Format 1 had no former groups.
  GROUPS_FORMAT: 2,
  // Most bytes of one answer.
  GROUPS_PAGE_BYTES: 1 << 20,
};

const GROUPS_TIMES = [
  // Chunks of the journal from this number on have groups, and those before it former groups.
  ["firstChunk", "f64"],
  // Chunks before this number have groups of an earlier dictionary.
  ["formerFirstChunk", "f64"],
  // By then all events of former groups have expired, and the names may begin anew.
  ["endMs", "f64"],
];

export const records = {
  // The dictionary begins with it. The label names follow, each with its length (u8), then the former groups, the birth (u32) and the
  // groups. A group is its label values, each with its length (u8), then a nonce (u32). So the four bytes before the end of each part
  // are random.
  GROUPS: [
    ["format", "u8"],
    ["labelCount", "u8"],
    ["zero", "u16"],
    // Of all processes: that of the one which began the names. Further groups have the number `others`.
    ["maxGroups", "u32"],
    // Group n has the number others + n.
    ["others", "u32"],
    // The same for the former groups, which no append names any more.
    ["formerOthers", "u32"],
    ["formerBytes", "u32"],
    ...GROUPS_TIMES,
  ],
  GROUPS_TIMES,
  // The part that a process has, up to the end of the header or of a group, and the nonce there. Length 0: nothing.
  GROUPS_KNOWN: [
    ["length", "u32"],
    ["nonce", "4"],
  ],
  // The same for an append, which must find that part.
  GUARD: [
    ["length", "u32"],
    ["nonce", "4"],
    ["firstChunk", "f64"],
  ],
  // The reply: the length of the dictionary, where the bytes that follow begin, and in how many ms the names may begin anew.
  INTERNED: [
    ["length", "u32"],
    ["from", "u32"],
    ["waitMs", "f64"],
  ],
};
