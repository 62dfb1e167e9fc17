// The constants, enums and records of counters that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // Generations between the last acknowledged and the current one. Normally a few; a rebase visits each.
  MAX_ENDED_GENERATIONS: 65_536,
  // Generations that a look at a shard lists.
  MAX_LISTED_GENERATIONS: 16,
};

export const enums = {
  // Refused: the stored state was not the expected one, and nothing was written.
  STATUS: { done: 0, refused: 1 },
  // Missing: the counter has no layout, or an older one.
  SHAPE: { stored: 0, missing: 1 },
};

export const records = {
  // The reply to a batch. The generation is the current one, by its number in the ledger. Text follows: when the shard was
  // created, " ", the mark's value before the step.
  ADDED: [
    ["status", "u8"],
    ["generation", "f64"],
  ],
  // Numbers of the ledger. Generation 0: none is frozen. Text follows: nonce, " ", sum.
  FROZEN: [
    ["acknowledged", "f64"],
    ["generation", "f64"],
  ],
  // The first generation that began after a ledger was read, by its number in the fields. 0: there is no shard.
  PARTED: [["generation", "f64"]],
  SWEPT: [["fields", "f64"]],
};
