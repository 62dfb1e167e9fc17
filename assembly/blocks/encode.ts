// Law: decode.ts describes the forms. Each choice depends on whole numbers only, so all forms of the codec choose alike.
// Domain: 1 to 1024 values at ARRIVAL. Bound: exact.
import {
  BASE,
  BITS,
  BODY_BYTES,
  DECIMAL,
  DECIMALS,
  EXCEPTION_COUNT,
  FORM,
  SAMPLES_BYTES,
  SHIFT,
  setField,
  TOP,
} from "./fields";
import {
  bitsOf64,
  findDecimals,
  keyOfBits,
  leastKey,
  leastWhole,
  mostKey,
  mostWhole,
  NONE,
  NONE32,
  regular,
} from "./keys";
import { encodeGroups, encodeSamples } from "./ladder";
import { encodeOrder } from "./order";
import {
  ARRIVAL,
  BLOCK,
  BODY,
  EXCEPTIONS,
  INDEXES,
  INTEGERS,
  KEYS,
  LOWS,
  OFFSETS,
  OTHER_KEYS,
  RANKS,
  SORTED,
} from "./places";
import { sortKeys } from "./radix";

/** Writes fields.ts, and samples, exceptions, groups and order at their places. */
export function encodeValues<K>(count: u32): void {
  const exponent = findDecimals<K>(count);
  const isDecimal = exponent >= 0;
  setField(FORM, isDecimal ? DECIMAL : BITS);
  setField(DECIMALS, max<i32>(exponent, 0));
  const most = isDecimal ? <u64>(mostWhole - leastWhole) : mostKey - leastKey;
  if (isDecimal) store<f64>(BASE, leastWhole + 0);
  else store<u64>(BASE, leastKey);
  const shift = max<i32>(0, bitsOf64(most) - 32);
  setField(SHIFT, shift);
  setField(TOP, <u32>(most >> shift));
  setField(EXCEPTION_COUNT, count - regular);
  if (sizeof<K>() === 4) writeKeys32(count, isDecimal);
  else writeKeys64(count, isDecimal, shift);
  sortRegular(shift, most);
  setField(SAMPLES_BYTES, <u32>(encodeSamples(OFFSETS, regular, BLOCK) - BLOCK));
  setField(BODY_BYTES, <u32>(encodeGroups(OFFSETS, regular, LOWS, shift, BODY) - BODY));
  if (regular < count) sortExceptions<K>(count);
  encodeOrder(count, listDistinct<K>(count, shift > 0 ? LOWS : OFFSETS));
}

/** Writes the keys of regular values: offsets above bit 10, and indexes. */
function writeKeys32(count: u32, isDecimal: bool): void {
  const from = isDecimal ? INTEGERS : OTHER_KEYS;
  const least = isDecimal ? <i32>leastWhole : <i32>leastKey;
  if (regular < count) {
    let to: usize = KEYS;
    for (let i: u32 = 0; i < count; i++) {
      const whole = load<i32>(INTEGERS + (i << 2));
      if (whole === NONE32) continue;
      store<u64>(to, ((<u64>(whole - least)) << 10) | i);
      to += 8;
    }
    return;
  }
  const start = i32x4.splat(least);
  let index = i64x2(0, 1);
  for (let at: usize = 0; at < count << 2; at += 16) {
    const offsets = i32x4.sub(v128.load(from + at), start);
    v128.store(at << 1, v128.or(i64x2.shl(i64x2.extend_low_i32x4_u(offsets), 10), index), KEYS);
    index = i64x2.add(index, i64x2.splat(2));
    v128.store(at << 1, v128.or(i64x2.shl(i64x2.extend_high_i32x4_u(offsets), 10), index), KEYS + 16);
    index = i64x2.add(index, i64x2.splat(2));
  }
}

/** The same, with a shift of the low parts. Writes offsets to INTEGERS, those of exceptions above all others. */
function writeKeys64(count: u32, isDecimal: bool, shift: u32): void {
  const mask = shift > 0 ? ((<u64>1) << shift) - 1 : u64.MAX_VALUE;
  let to: usize = KEYS;
  for (let i: u32 = 0; i < count; i++) {
    const at = i << 3;
    let offset = keyOfBits<u64>(load<u64>(at, ARRIVAL)) - leastKey;
    if (isDecimal) {
      const whole = load<f64>(at, INTEGERS);
      offset = whole === NONE ? u64.MAX_VALUE : <u64>(whole - leastWhole);
    }
    store<u64>(at, offset, INTEGERS);
    if (isDecimal && offset === u64.MAX_VALUE) continue;
    store<u64>(to, ((offset & mask) << 10) | i);
    to += 8;
  }
}

/** Writes OFFSETS, LOWS, SORTED and RANKS. */
function sortRegular(shift: u32, most: u64): void {
  if (shift === 0) {
    sortKeys(regular, bitsOf64(most), true);
    return;
  }
  const sorted = sortKeys(regular, shift, false);
  for (let at: usize = 0; at < regular << 3; at += 8) {
    const index = load<u64>(sorted + at) & 1023;
    store<u64>(KEYS + at, ((load<u64>((<usize>index) << 3, INTEGERS) >> shift) << 10) | index);
  }
  sortKeys(regular, 32, true);
  const mask = ((<u64>1) << shift) - 1;
  for (let i: u32 = 0; i < regular; i++)
    store<u32>(LOWS + (i << 2), <u32>(load<u64>(INTEGERS + (sortedAt(i) << 3)) & mask));
}

/** Adds exceptions to SORTED and RANKS, in order of their bits, and copies their values to EXCEPTIONS. */
function sortExceptions<K>(count: u32): void {
  let found = regular;
  for (let index: u32 = 0; index < count; index++) {
    const isRegular =
      sizeof<K>() === 4
        ? load<i32>(INTEGERS + (index << 2)) !== NONE32
        : load<u64>(INTEGERS + (index << 3)) !== u64.MAX_VALUE;
    if (isRegular) continue;
    const key = keyOfBits<K>(valueAt<K>(index));
    let at = found++;
    for (; at > regular && keyOfBits<K>(valueAt<K>(sortedAt(at - 1))) > key; at--) setSorted(at, sortedAt(at - 1));
    setSorted(at, index);
  }
  for (let i = regular; i < count; i++) {
    store<K>(EXCEPTIONS + (i - regular) * sizeof<K>(), valueAt<K>(sortedAt(i)));
    store<u16>(RANKS + (sortedAt(i) << 1), i << 1);
  }
}

/** Writes to INDEXES, by rank, which of the distinct values each is. Returns the last index. `lows`: of offsets. */
function listDistinct<K>(count: u32, lows: usize): u32 {
  let distinct: u32 = 0;
  for (let i: u32 = 1; i < regular; i++) {
    const at = i << 2;
    const change = load<u32>(at, OFFSETS) ^ load<u32>(at, OFFSETS - 4);
    // Without a branch, because ties are hard to predict.
    distinct += <u32>((change | (load<u32>(lows + at) ^ load<u32>(lows + at - 4))) !== 0);
    store<u16>(INDEXES + (i << 1), distinct);
  }
  for (let i = regular; i < count; i++) {
    distinct += <u32>(i === regular || valueAt<K>(sortedAt(i)) !== valueAt<K>(sortedAt(i - 1)));
    store<u16>(INDEXES + (i << 1), distinct);
  }
  return distinct;
}

function valueAt<K>(index: u32): K {
  return load<K>(ARRIVAL + index * sizeof<K>());
}

function sortedAt(place: u32): u32 {
  return <u32>load<u16>(SORTED + (place << 1)) >> 1;
}

function setSorted(place: u32, index: u32): void {
  store<u16>(SORTED + (place << 1), index << 1);
}
