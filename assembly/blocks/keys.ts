// Law: the key of a regular value is an integer. Keys order the values and give them back bit for bit.
//      Decimals: the integer d with d / 10^e = the value, computed as d * (1 / 10^e), rounded, for f32 with |d| <= 2^24, and as
//      d / 10^e for f64 with |d| <= 2^51. A value without such a d is an exception: NaN, -0 and infinities always are.
//      Bits: those of the float, all inverted if it is negative, else only the sign bit.
// Source: Afroozeh, Kuffo and Boncz 2023, "ALP: Adaptive Lossless floating-Point Compression"; Terdiman 2000.
import { UNIT } from "./fields";
import { ARRIVAL, INTEGERS, LOWS, OTHER_KEYS } from "./places";

export function powerOfTen(exponent: u32): f64 {
  let power: f64 = 1;
  for (; exponent > 0; exponent--) power *= 10;
  return power;
}

/** Adding it rounds to an integer, ties to even. The low bits of the sum are that integer. */
const ROUNDER: f64 = 6755399441055744;
/** In place of the integer of an exception. */
export const NONE32: i32 = i32.MAX_VALUE;
export const NONE: f64 = Infinity;

/** The number of values with a key, the smallest and largest ordered bits, and integers. */
export let regular: u32 = 0;
export let leastKey: u64 = 0;
export let mostKey: u64 = 0;
export let leastWhole: f64 = 0;
export let mostWhole: f64 = 0;

export function keyOfBits<K>(bits: K): K {
  return sizeof<K>() === 4
    ? <K>(<i32>bits ^ ((<i32>bits >> 31) | i32.MIN_VALUE))
    : <K>(<i64>bits ^ ((<i64>bits >> 63) | i64.MIN_VALUE));
}

/** Finds the range of ordered bits. Those of f32 are written to OTHER_KEYS. */
function findKeys<K>(count: u32): void {
  if (sizeof<K>() === 4) findKeys32(count);
  else findKeys64(count);
}

function findKeys32(count: u32): void {
  let least = i32x4.splat(-1);
  let most = i32x4.splat(0);
  for (let at: usize = 0; at < count << 2; at += 16) {
    const bits = v128.load(at, ARRIVAL);
    const key = v128.xor(bits, v128.or(i32x4.shr_s(bits, 31), i32x4.splat(i32.MIN_VALUE)));
    v128.store(at, key, OTHER_KEYS);
    least = i32x4.min_u(least, key);
    most = i32x4.max_u(most, key);
  }
  least = i32x4.min_u(least, v128.shuffle<i64>(least, least, 1, 1));
  most = i32x4.max_u(most, v128.shuffle<i64>(most, most, 1, 1));
  leastKey = min<u32>(i32x4.extract_lane(least, 0), i32x4.extract_lane(least, 1));
  mostKey = max<u32>(i32x4.extract_lane(most, 0), i32x4.extract_lane(most, 1));
}

function findKeys64(count: u32): void {
  let least = u64.MAX_VALUE;
  let most: u64 = 0;
  for (let at: usize = 0; at < count << 3; at += 8) {
    const key = keyOfBits<u64>(load<u64>(at, ARRIVAL));
    least = min<u64>(least, key);
    most = max<u64>(most, key);
  }
  leastKey = least;
  mostKey = most;
}

/** Writes integers of i32 to INTEGERS. Returns how many values have one. NaN must follow the values. */
function takeIntegers32(from: usize, count: u32): u32 {
  // Loaded and not computed, because V8 would compute them again in each round.
  const power = v128.load64_splat(UNIT);
  const inverse = v128.load64_splat(UNIT, 8);
  const rounder = f64x2.splat(ROUNDER);
  let least = i32x4.splat(i32.MAX_VALUE);
  let most = i32x4.splat(i32.MIN_VALUE);
  let found = i32x4.splat(0);
  for (let at: usize = 0; at < count << 2; at += 16) {
    const x = v128.load(from + at);
    const low = f64x2.add(f64x2.mul(f64x2.promote_low_f32x4(x), power), rounder);
    const upper = v128.shuffle<i64>(x, x, 1, 1);
    const high = f64x2.add(f64x2.mul(f64x2.promote_low_f32x4(upper), power), rounder);
    // Of a sum that is too large these bits give another value, and of NaN none.
    const whole = v128.shuffle<i32>(low, high, 0, 2, 4, 6);
    const wholeUpper = v128.shuffle<i64>(whole, whole, 1, 1);
    const again = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.convert_low_i32x4_s(whole), inverse));
    const againUpper = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.convert_low_i32x4_s(wholeUpper), inverse));
    const isSame = i32x4.eq(v128.shuffle<i64>(again, againUpper, 0, 2), x);
    const fits = v128.and(isSame, i32x4.le_u(i32x4.abs(whole), i32x4.splat(16777216)));
    const kept = v128.bitselect(whole, i32x4.splat(NONE32), fits);
    v128.store(at, kept, INTEGERS);
    least = i32x4.min_s(least, kept);
    most = i32x4.max_s(most, v128.bitselect(whole, i32x4.splat(i32.MIN_VALUE), fits));
    found = i32x4.sub(found, fits);
  }
  least = i32x4.min_s(least, v128.shuffle<i64>(least, least, 1, 1));
  most = i32x4.max_s(most, v128.shuffle<i64>(most, most, 1, 1));
  leastWhole = min<i32>(i32x4.extract_lane(least, 0), i32x4.extract_lane(least, 1));
  mostWhole = max<i32>(i32x4.extract_lane(most, 0), i32x4.extract_lane(most, 1));
  found = i32x4.add(found, v128.shuffle<i64>(found, found, 1, 1));
  return i32x4.extract_lane(found, 0) + i32x4.extract_lane(found, 1);
}

/** The same of f64, as f64. */
function takeIntegers64(from: usize, count: u32): u32 {
  const power = v128.load64_splat(UNIT);
  const rounder = f64x2.splat(ROUNDER);
  let least = f64x2.splat(NONE);
  let most = f64x2.splat(-NONE);
  let found = i64x2.splat(0);
  for (let at: usize = 0; at < count << 3; at += 16) {
    const x = v128.load(from + at);
    const whole = f64x2.sub(f64x2.add(f64x2.mul(x, power), rounder), rounder);
    const isSmall = f64x2.le(f64x2.abs(whole), f64x2.splat(2251799813685248));
    const fits = v128.and(isSmall, i64x2.eq(f64x2.div(whole, power), x));
    const kept = v128.bitselect(whole, f64x2.splat(NONE), fits);
    v128.store(at, kept, INTEGERS);
    least = f64x2.pmin(least, kept);
    most = f64x2.pmax(most, v128.bitselect(whole, f64x2.splat(-NONE), fits));
    found = i64x2.sub(found, fits);
  }
  leastWhole = min<f64>(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1));
  mostWhole = max<f64>(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
  return <u32>(i64x2.extract_lane(found, 0) + i64x2.extract_lane(found, 1));
}

function takeIntegers<K>(from: usize, count: u32, exponent: u32): u32 {
  const power = powerOfTen(exponent);
  store<f64>(UNIT, power);
  store<f64>(UNIT, 1 / power, 8);
  v128.store(from + count * sizeof<K>(), i32x4.splat(-1));
  return sizeof<K>() === 4 ? takeIntegers32(from, count) : takeIntegers64(from, count);
}

/** The exponent with which most of 32 values are decimals, the least of equal ones; or -1 if fewer than three quarters are. */
function chooseDecimals<K>(count: u32): i32 {
  const sampled = min<u32>(count, 32);
  for (let i: u32 = 0; i < sampled; i++)
    store<K>(LOWS + i * sizeof<K>(), load<K>(ARRIVAL + ((i * count) / sampled) * sizeof<K>()));
  let most: u32 = (3 * sampled) >> 2;
  let chosen: i32 = -1;
  const limit: i32 = sizeof<K>() === 4 ? 10 : 15;
  for (let exponent = 0; exponent <= limit; exponent++) {
    const fit = takeIntegers<K>(LOWS, sampled, exponent);
    if (fit > most) {
      most = fit;
      chosen = exponent;
    }
    if (fit === sampled) break;
  }
  return chosen;
}

/** Writes integers to INTEGERS, and returns the exponent, if decimals are the smaller form. Else returns -1. */
export function findDecimals<K>(count: u32): i32 {
  // A vector that is not full has the last value again.
  const last = load<K>(ARRIVAL + (count - 1) * sizeof<K>());
  for (let i: u32 = count; i & 3; i++) store<K>(ARRIVAL + i * sizeof<K>(), last);
  findKeys<K>(count);
  const exponent = chooseDecimals<K>(count);
  if (exponent >= 0) {
    regular = takeIntegers<K>(ARRIVAL, count, exponent);
    const exceptions = count - regular;
    if (exceptions << 4 <= count && regular > 0) {
      const bits = regular * bitsOf64(<u64>(mostWhole - leastWhole)) + exceptions * sizeof<K>() * 8;
      if (<u32>bits <= count * bitsOf64(mostKey - leastKey)) return exponent;
    }
  }
  regular = count;
  leastWhole = 0;
  mostWhole = 0;
  return -1;
}

export function bitsOf64(x: u64): u32 {
  return 64 - <u32>clz<u64>(x);
}
