// Law: facts about the values of a block stand in fields of u32 at CONTROL. The host reads them after `encode32` and writes
//      them before `decodeValues32` and `arrange32`.
import { CONTROL } from "./places";

export const FORM: u32 = 0;
export const ORDER_KIND: u32 = 1;
export const DECIMALS: u32 = 2;
export const SHIFT: u32 = 3;
export const DISTINCT_COUNT: u32 = 4;
export const EXCEPTION_COUNT: u32 = 5;
export const TOP: u32 = 6;
export const SAMPLES_BYTES: u32 = 7;
export const BODY_BYTES: u32 = 8;
export const ORDER_BYTES: u32 = 9;
/** 8 bytes: an f64 of decimals, the key of bits. For decoding f32 decimals: an i32. */
export const BASE: usize = CONTROL + 40;
/** f64, for decoding decimals: 1 / 10^e if they are f32, 10^e if they are f64. */
export const UNIT: usize = CONTROL + 48;

// Values of FORM and ORDER_KIND, as in layouts/block.mjs.
export const DECIMAL: u32 = 1;
export const BITS: u32 = 2;
export const IN_ORDER: u32 = 0;
export const INDEX: u32 = 1;
export const PERMUTATION: u32 = 2;
export const SPARSE: u32 = 3;

export function field(number: u32): u32 {
  return load<u32>(CONTROL + (number << 2));
}

export function setField(number: u32, value: u32): void {
  store<u32>(CONTROL + (number << 2), value);
}
