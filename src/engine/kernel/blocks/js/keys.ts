// The JS form of assembly/blocks/keys.ts.
import type { Column } from "../../contract.ts";
import { bitsOf } from "./bits.ts";

/** Adding and subtracting it rounds to an integer, ties to even. */
const ROUNDER = 6_755_399_441_055_744;
const MAX_SAMPLED = 32;

export function powerOfTen(exponent: number): number {
  let power = 1;
  for (let i = 0; i < exponent; i++) power *= 10;
  return power;
}

/** Bits of an integer of up to 64 bits in two halves. */
export function bitsOf64(low: number, high: number): number {
  return high === 0 ? bitsOf(low) : 32 + bitsOf(high);
}

/** The integer of a decimal, or NaN. */
function integer32(x: number, power: number, inverse: number): number {
  const whole = x * power + ROUNDER - ROUNDER;
  return Math.abs(whole) <= 2 ** 24 && Object.is(Math.fround(whole * inverse), x) ? whole : Number.NaN;
}

function integer64(x: number, power: number): number {
  const whole = x * power + ROUNDER - ROUNDER;
  return Math.abs(whole) <= 2 ** 51 && Object.is(whole / power, x) ? whole : Number.NaN;
}

function chooseDecimals(values: Column): number {
  const count = values.length;
  const wide = values instanceof Float64Array;
  const sampled = Math.min(count, MAX_SAMPLED);
  let most = (3 * sampled) >> 2;
  let chosen = -1;
  for (let exponent = 0; exponent <= (wide ? 15 : 10); exponent++) {
    const power = powerOfTen(exponent);
    const inverse = 1 / power;
    let fit = 0;
    for (let i = 0; i < sampled; i++) {
      const x = values[Math.floor((i * count) / sampled)]!;
      if (!Number.isNaN(wide ? integer64(x, power) : integer32(x, power, inverse))) fit++;
    }
    if (fit > most) {
      most = fit;
      chosen = exponent;
    }
    if (fit === sampled) break;
  }
  return chosen;
}

/**
 * Writes the integers of values (NaN: an exception) if decimals take fewer bits than `keyBits` for each value.
 * Returns the exponent, or -1.
 */
export function findDecimals(values: Column, keyBits: number, integers: Float64Array): number {
  const exponent = chooseDecimals(values);
  if (exponent < 0) return -1;
  const count = values.length;
  const wide = values instanceof Float64Array;
  const power = powerOfTen(exponent);
  const inverse = 1 / power;
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let exceptions = 0;
  for (let i = 0; i < count; i++) {
    const whole = wide ? integer64(values[i]!, power) : integer32(values[i]!, power, inverse);
    integers[i] = whole;
    if (whole < least) least = whole;
    if (whole > most) most = whole;
    if (Number.isNaN(whole)) exceptions++;
  }
  if (16 * exceptions > count || exceptions === count) return -1;
  const range = most - least;
  const bits = bitsOf64(range >>> 0, Math.floor(range / 2 ** 32));
  return (count - exceptions) * bits + exceptions * (wide ? 64 : 32) <= count * keyBits ? exponent : -1;
}
