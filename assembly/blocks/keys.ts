// Law: the key of a regular value is an integer. Keys order the values and give them back bit for bit.
//      Decimals: the integer d with d / 10^e = the value, computed as d * (1 / 10^e), rounded, for f32 with |d| <= 2^24, and as
//      d / 10^e for f64 with |d| <= 2^51. A value without such a d is an exception: NaN, -0 and infinities always are.
//      Bits: those of the float, all inverted if it is negative, else only the sign bit.
// Source: Afroozeh, Kuffo and Boncz 2023, "ALP: Adaptive Lossless floating-Point Compression"; Terdiman 2000.
import { INTEGERS } from "./places";

export function powerOfTen(exponent: u32): f64 {
  let power: f64 = 1;
  for (; exponent > 0; exponent--) power *= 10;
  return power;
}

/** Adding and subtracting it rounds to an integer, ties to even. */
const ROUNDER: f64 = 6755399441055744;
/** No integer of a value. */
export const NONE: f64 = Infinity;

export function keyOfBits<K>(bits: K): K {
  return sizeof<K>() === 4
    ? <K>(<i32>bits ^ ((<i32>bits >> 31) | i32.MIN_VALUE))
    : <K>(<i64>bits ^ ((<i64>bits >> 63) | i64.MIN_VALUE));
}

function integerOf<T, K>(at: usize, power: f64): f64 {
  const bits = load<K>(at);
  const whole = <f64>load<T>(at) * power + ROUNDER - ROUNDER;
  if (sizeof<K>() === 4) {
    if (!(abs<f64>(whole) <= 16777216)) return NONE;
    return reinterpret<u32>(<f32>(whole * (1 / power))) === <u32>bits ? whole : NONE;
  }
  if (!(abs<f64>(whole) <= 2251799813685248)) return NONE;
  return reinterpret<u64>(whole / power) === <u64>bits ? whole : NONE;
}

/** The exponent with which most of 32 values are decimals, the least of equal ones; or -1 if fewer than three quarters are. */
function chooseDecimals<T, K>(from: usize, count: u32): i32 {
  const sampled = min<u32>(count, 32);
  let most: u32 = (3 * sampled) >> 2;
  let chosen: i32 = -1;
  const limit: i32 = sizeof<K>() === 4 ? 10 : 15;
  for (let exponent = 0; exponent <= limit; exponent++) {
    const power = powerOfTen(exponent);
    let fit: u32 = 0;
    for (let i: u32 = 0; i < sampled; i++)
      fit += integerOf<T, K>(from + ((i * count) / sampled) * sizeof<K>(), power) === NONE ? 0 : 1;
    if (fit > most) {
      most = fit;
      chosen = exponent;
    }
    if (fit === sampled) break;
  }
  return chosen;
}

/** Writes the integers of values to INTEGERS if decimals are the smaller form. Returns the exponent, or -1. */
export function findDecimals<T, K>(from: usize, count: u32): i32 {
  const exponent = chooseDecimals<T, K>(from, count);
  if (exponent < 0) return -1;
  const power = powerOfTen(exponent);
  let least: f64 = Infinity;
  let most: f64 = -Infinity;
  let leastKey: K = <K>-1;
  let mostKey: K = 0;
  let exceptions: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const at = from + i * sizeof<K>();
    const key = keyOfBits<K>(load<K>(at));
    leastKey = min<K>(leastKey, key);
    mostKey = max<K>(mostKey, key);
    const whole = integerOf<T, K>(at, power);
    store<f64>(INTEGERS + (i << 3), whole);
    if (whole === NONE) exceptions++;
    else {
      least = min<f64>(least, whole);
      most = max<f64>(most, whole);
    }
  }
  if (exceptions << 4 > count || exceptions === count) return -1;
  const decimalBits = (count - exceptions) * bitsOf64(<u64>(most - least)) + exceptions * sizeof<K>() * 8;
  return <u32>decimalBits <= count * bitsOf64(<u64>(mostKey - leastKey)) ? exponent : -1;
}

export function bitsOf64(x: u64): u32 {
  return 64 - <u32>clz<u64>(x);
}
