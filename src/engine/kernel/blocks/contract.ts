import type { Column, Kernel, Summary } from "../contract.ts";

/** How the values of a block are stored. Numbers of `form` and `order` are those of layouts/block.mjs. */
interface ValueFields {
  form: number;
  order: number;
  decimals: number;
  shift: number;
  distinct: number;
  exceptions: number;
  /** The largest offset, without its `shift` low bits. */
  top: number;
  /** The key of the smallest regular value: an integer if values are decimals, else two u32 of ordered bits. */
  integer: number;
  keyLow: number;
  keyHigh: number;
}

/** The result of a codec. The parts are views that are valid until its next call for values. */
export interface EncodedValues {
  fields: ValueFields;
  samples: Uint8Array;
  exceptions: Uint8Array;
  body: Uint8Array;
  order: Uint8Array;
}

/**
 * Times and their bounds. `bytes` is a view that is valid until the next ones are encoded, or undefined: the times must be
 * stored raw.
 */
export interface EncodedTimes {
  /** 0 if there are none. */
  runs: number;
  earliestMs: number;
  latestMs: number;
  bytes: Uint8Array | undefined;
}

/** The header of a block. */
export interface BlockHead extends ValueFields {
  /** Values are f64, not f32. */
  wide: boolean;
  timing: number;
  count: number;
  runs: number;
  headBytes: number;
  bodyBytes: number;
  orderBytes: number;
  timesBytes: number;
  nanCount: number;
  positiveInfinityCount: number;
  negativeInfinityCount: number;
}

export interface BlockTotals {
  earliestMs: number;
  latestMs: number;
  summary: Summary;
}

/** A block in its five parts, which may be stored apart. */
export interface BlockParts {
  head: Uint8Array;
  totals: Uint8Array;
  body: Uint8Array;
  order: Uint8Array;
  times: Uint8Array;
}

/** Where the groups of a block are, from its head alone. */
export interface Outline {
  /** Where each group begins in the body, and at last its end. */
  places: Uint32Array;
  /** The smallest value of each group. With a shift of the block, a value that may lie below it by 2^shift steps. */
  least: Column;
}

/** The head of a block, and perhaps some of its other parts. */
export type SomeParts = Pick<BlockParts, "head"> & Partial<BlockParts>;

/** The loops that read values, in one of two forms. They answer damaged bytes with false or undefined. */
export interface BlockDecoder {
  readonly name: "wasm-simd" | "js";
  /** Writes the regular values of groups `first` to `last` - 1 to `out`, ascending. `body`: these groups and nothing else. */
  decodeGroups(head: BlockHead, bytes: Uint8Array, body: Uint8Array, first: number, last: number, out: Column): boolean;
  /** Writes all values to `out`, in order of arrival, or without `order` ascending, exceptions last. `bytes`: those of the head. */
  decode(head: BlockHead, bytes: Uint8Array, body: Uint8Array, order: Uint8Array | undefined, out: Column): boolean;
  /**
   * Writes the times of events to `out`. Returns their number (above that of the head if the runs are too long), or -1 if `bytes` have
   * another length.
   */
  decodeTimes(head: BlockHead, earliestMs: number, bytes: Uint8Array, out: Float64Array): number;
}

/** The loops over values. Both forms write the same bytes. */
export interface BlockCodec extends BlockDecoder {
  /** Encodes 1 to 1024 values, never in the raw form. */
  encode(values: Column): EncodedValues;
  /** Encodes 1 to 1024 times. */
  encodeTimes(times: Float64Array): EncodedTimes;
}

/** Blocks of pairs, each a group number and the key of an f32 value as one f64. A process without groups has no code for them. */
export interface PairCodec {
  /** Encodes 1 to 1024 events. The totals are those of the values. */
  encode(codec: BlockCodec, kernel: Kernel, times: Float64Array, pairs: Column): BlockParts;
  /** Writes all events in order of arrival. Throws CORRUPT. */
  decode(codec: BlockDecoder, head: BlockHead, parts: BlockParts, times: Float64Array, pairs: Column): void;
  /** The values of pairs. */
  valuesOf(pairs: Column): Float32Array;
}
