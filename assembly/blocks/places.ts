// Law: the codec has fixed places, all below 192 KiB, so nothing is allocated and memory does not grow. Room for what vectors
//      read or write past the end follows each place.

/** For each width up to 25: which bytes to gather for eight numbers, and the factors that align them. 64 bytes each. */
export const SPREADS: usize = 1024;
/** For each width: four times the largest number. */
export const MASKS: usize = SPREADS + 26 * 64;
/** For each width up to 10: which bytes to gather for eight numbers of 16 bits, and the factors. 32 bytes each. */
export const CODE_SPREADS: usize = 3456;
/** For each byte: the places of its bits. */
export const BIT_PLACES: usize = 4096;
/** 32 unpacked numbers. */
export const UNPACKED: usize = 6144;
/** Where each group of 32 begins. */
export const STARTS: usize = 6400;
/** The fields of fields.ts. */
export const CONTROL: usize = 6656;
/** The samples of a ladder, and its top, u32. */
export const SAMPLES: usize = 6912;
/** Offsets, or the numbers of a ladder, u32. */
export const OFFSETS: usize = 7168;
/** The low parts of offsets, u32. */
export const LOWS: usize = 12288;
/** Values in ascending order, and in order of arrival. Twice the room, for codes of damaged blocks. */
export const VALUES: usize = 16384;
/** Distinct values. */
export const DISTINCT: usize = 33792;
/** Values by their indexes, and those that an encoder reads. */
export const ARRIVAL: usize = 43008;
/** The bytes of a block: of a decoder all parts, of an encoder the parts at the places below. */
export const BLOCK: usize = 65536;
export const EXCEPTIONS: usize = BLOCK + 1024;
export const BODY: usize = BLOCK + 4096;
export const ORDER: usize = BLOCK + 20480;
export const SPARSE_ORDER: usize = BLOCK + 24576;
/** The places of the set bits of each group, one byte each. */
export const ONES: usize = BLOCK - 2048;
/** Of an encoder: two lists of keys with indexes (u64), counts, indexes in ascending order (u16), ranks by arrival, and which of the
 *  distinct values each is by rank. */
export const KEYS: usize = 98304;
export const OTHER_KEYS: usize = 106496;
export const COUNTS: usize = 114688;
export const SORTED: usize = 122880;
export const RANKS: usize = 124928;
export const INDEXES: usize = 126976;
export const INTEGERS: usize = 129024;
/** Times, and one for each run of equal ones, f64. Of an encoder the first events of runs stand at KEYS. */
export const TIMES: usize = 139264;
export const LINES: usize = 149504;
/** Encoded times. No other call writes here. */
export const TIMES_BLOCK: usize = 159744;
