// The records and constants of histories that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // Bytes of a list of lines. The oldest are removed.
  MAX_LIST_BYTES: 65_536,
  // The list expires this long after its last change: 90 days.
  LIST_LIFE_MS: 7_776_000_000,
  // The counts of denied ids are kept in slots of this length, each in a key of its own.
  SLOT_MS: 600_000,
  // Slots that are kept: the one that is filled, and those of the hour before.
  SLOTS: 7,
  // A count of a structure is kept in bins of this length. Processes report as often.
  BIN_MS: 10_000,
  // Bins of a ring, 3 hours. A bin is at its number (server ms / BIN_MS) modulo BINS.
  BINS: 1080,
  // Entries of the stream of operators' actions: two for each action. The oldest are removed.
  MAX_ACTION_ENTRIES: 1000,
  // The last entries, among which a repeated one is looked for.
  RECENT_ENTRIES: 16,
  // Ids of one slot. Above this number, those with the fewest denials are removed.
  MAX_SLOT_IDS: 1000,
};

export const records = {
  // A bin of a ring. The number 0 is that of none.
  BIN: [
    ["number", "u32"],
    ["count", "f64"],
  ],
  // The head of a reply, before the list or the bins.
  LINES_READ: [["nowMs", "f64", "now"]],
  // The head of an id with its count. Its text in UTF-8 follows.
  DENIED: [
    ["count", "f64"],
    ["textBytes", "u16"],
  ],
};
