// The header of a block of encoded events (src/engine/kernel/blocks/README.md draws the whole block).

export const constants = {
  MAX_IN_BLOCK: 1024,
  // Numbers in a group of a ladder.
  GROUP: 32,
  // The value type of a block of pairs: f32 values, and a group number for each.
  PAIRS: 2,
  // The largest number of bits of a group number, and the most bits of the code of a class.
  MAX_NUMBER_BITS: 20,
  MAX_CODE_BITS: 6,
  // The width of group numbers that are stored by their classes.
  BY_CLASS: 255,
};

export const enums = {
  // How values are stored: plainly in order of arrival, or sorted as integers of decimals or of their bits.
  FORM: { raw: 0, decimal: 1, bits: 2 },
  // How the order of arrival is stored.
  ORDER: { none: 0, index: 1, permutation: 2, sparse: 3 },
  // How times are stored: for each event, for each run of equal ones, or plainly.
  TIMING: { each: 0, runs: 1, raw: 2 },
};

export const records = {
  BLOCK: [
    ["form", "u8"],
    // 0 f32, 1 f64, 2 PAIRS.
    ["valueType", "u8"],
    ["order", "u8"],
    ["timing", "u8"],
    ["decimals", "u8"],
    ["shift", "u8"],
    ["count", "u16"],
    ["distinct", "u16"],
    ["runs", "u16"],
    ["exceptions", "u16"],
    ["headBytes", "u16"],
    ["bodyBytes", "u16"],
    ["orderBytes", "u16"],
    ["timesBytes", "u16"],
    ["nanCount", "u16"],
    ["positiveInfinityCount", "u16"],
    ["negativeInfinityCount", "u16"],
    ["top", "u32"],
    // The base: the ordered bits of a value, or an f64 of decimals.
    ["keyLow", "u32"],
    ["keyHigh", "u32"],
  ],
  // A part of its own, because a reader of percentiles does not need it.
  TOTALS: [
    ["earliestMs", "f64"],
    ["latestMs", "f64"],
    ["min", "f64"],
    ["max", "f64"],
    ["sumHigh", "f64"],
    ["sumLow", "f64"],
    ["m2", "f64"],
  ],
  // The start of the order of a block with few uncommon values.
  SPARSE: [
    ["common", "u16"],
    ["others", "u16"],
    ["first", "u16"],
    ["last", "u16"],
  ],
  // The start of the times of each event or run. `slope` is an i32.
  TIMES: [
    ["slope", "u32"],
    ["top", "u32"],
    ["first", "u32"],
  ],
  // Follows TIMES if they are stored as runs: the length of the shortest run, and the bits of each length less the shortest.
  RUNS: [
    ["shortest", "u16"],
    ["width", "u8"],
  ],
  // The start of the times of a block of pairs: the bytes of the group numbers that follow, and the bits of each. With a width of 0 all
  // are the same one, a u32.
  NUMBERS: [
    ["sizeBytes", "u16"],
    ["width", "u8"],
  ],
};
