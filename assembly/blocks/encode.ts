// Law: decode.ts describes the forms. Each choice depends on whole numbers only, so all forms of the codec choose alike.
// Domain: 1 to 1024 values at ARRIVAL. Bound: exact.
import { bitsOf } from "./bits";
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
import { bitsOf64, findDecimals, keyOfBits, NONE } from "./keys";
import { encodeGroups, encodeSamples } from "./ladder";
import { encodeOrder } from "./order";
import { ARRIVAL, BLOCK, BODY, EXCEPTIONS, INTEGERS, KEYS, LOWS, OFFSETS, SORTED } from "./places";
import { sortKeys } from "./radix";

/** Writes fields.ts, and samples, exceptions, groups and order at their places. */
export function encodeValues<T, K>(count: u32): void {
  const exponent = findDecimals<T, K>(ARRIVAL, count);
  setField(FORM, exponent < 0 ? BITS : DECIMAL);
  setField(DECIMALS, max<i32>(exponent, 0));
  const most = exponent < 0 ? offsetsOfBits<K>(count) : offsetsOfIntegers(count);
  const shift = max<i32>(0, bitsOf64(most) - 32);
  setField(SHIFT, shift);
  setField(TOP, <u32>(most >> shift));
  const regular = sortRegular(count, shift, most);
  setField(EXCEPTION_COUNT, count - regular);
  if (regular < count) sortExceptions<K>(regular, count);
  setField(SAMPLES_BYTES, <u32>(encodeSamples(OFFSETS, regular, BLOCK) - BLOCK));
  setField(BODY_BYTES, <u32>(encodeGroups(OFFSETS, regular, LOWS, shift, BODY) - BODY));
  encodeOrder<K>(count);
}

/** Encodes `count` sorted numbers from 0 on, at OFFSETS, to BLOCK. Returns the address of the end. */
export function encodeLadder(count: u32): usize {
  return encodeGroups(OFFSETS, count, LOWS, 0, encodeSamples(OFFSETS, count, BLOCK));
}

/** Writes offsets to INTEGERS. Returns the largest. */
function offsetsOfBits<K>(count: u32): u64 {
  let least: K = <K>-1;
  let most: K = 0;
  for (let i: u32 = 0; i < count; i++) {
    const key = keyOfBits<K>(load<K>(ARRIVAL + i * sizeof<K>()));
    least = min<K>(least, key);
    most = max<K>(most, key);
  }
  for (let i: u32 = 0; i < count; i++)
    store<u64>(INTEGERS + (i << 3), <u64>(keyOfBits<K>(load<K>(ARRIVAL + i * sizeof<K>())) - least));
  store<u64>(BASE, <u64>least);
  return <u64>(most - least);
}

/** Turns integers into offsets; that of an exception is the largest u64. Returns the largest other one. */
function offsetsOfIntegers(count: u32): u64 {
  let least: f64 = Infinity;
  let most: f64 = -Infinity;
  for (let at: usize = INTEGERS; at < INTEGERS + (count << 3); at += 8) {
    const whole = load<f64>(at);
    least = min<f64>(least, whole);
    most = max<f64>(most, whole === NONE ? most : whole);
  }
  for (let at: usize = INTEGERS; at < INTEGERS + (count << 3); at += 8) {
    const whole = load<f64>(at);
    store<u64>(at, whole === NONE ? u64.MAX_VALUE : <u64>(whole - least));
  }
  store<f64>(BASE, least + 0);
  return <u64>(most - least);
}

/** Writes sorted offsets and indexes. Returns their number. */
function sortRegular(count: u32, shift: u32, most: u64): u32 {
  let to: usize = KEYS;
  const mask = ((<u64>1) << shift) - 1;
  for (let i: u32 = 0; i < count; i++) {
    const offset = load<u64>(INTEGERS + (i << 3));
    if (offset > most) continue;
    store<u64>(to, ((shift > 0 ? offset & mask : offset) << 10) | i);
    to += 8;
  }
  const regular = <u32>((to - KEYS) >> 3);
  let sorted = sortKeys(regular, shift > 0 ? shift : bitsOf(<u32>most));
  if (shift > 0) {
    for (let at: usize = 0; at < regular << 3; at += 8) {
      const index = load<u64>(sorted + at) & 1023;
      store<u64>(KEYS + at, ((load<u64>(INTEGERS + ((<usize>index) << 3)) >> shift) << 10) | index);
    }
    sorted = sortKeys(regular, 32);
  }
  for (let i: u32 = 0; i < regular; i++) {
    const key = load<u64>(sorted + (i << 3));
    const index = <u32>key & 1023;
    store<u32>(OFFSETS + (i << 2), <u32>(key >> 10));
    if (shift > 0) store<u32>(LOWS + (i << 2), <u32>(load<u64>(INTEGERS + (index << 3)) & mask));
    store<u16>(SORTED + (i << 1), index);
  }
  return regular;
}

/** Adds the indexes of exceptions, in order of their bits, and copies their values to EXCEPTIONS. */
function sortExceptions<K>(regular: u32, count: u32): void {
  let found = regular;
  for (let index: u32 = 0; index < count; index++) {
    if (load<u64>(INTEGERS + (index << 3)) !== u64.MAX_VALUE) continue;
    const key = keyOfBits<K>(valueAt<K>(index));
    let at = found++;
    for (; at > regular && keyOfBits<K>(valueAt<K>(sortedAt(at - 1))) > key; at--) setSorted(at, sortedAt(at - 1));
    setSorted(at, index);
  }
  for (let i = regular; i < count; i++) store<K>(EXCEPTIONS + (i - regular) * sizeof<K>(), valueAt<K>(sortedAt(i)));
}

function valueAt<K>(index: u32): K {
  return load<K>(ARRIVAL + index * sizeof<K>());
}

function sortedAt(place: u32): u32 {
  return load<u16>(SORTED + (place << 1));
}

function setSorted(place: u32, index: u32): void {
  store<u16>(SORTED + (place << 1), index);
}
