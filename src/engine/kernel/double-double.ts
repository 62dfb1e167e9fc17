/**
 * Adds up TwoSum lanes in the order 0, 1, 2 ... to [high, low], where high is the rounded sum. Not finite if a lane
 * overflowed.
 */
export function foldLanes(high: ArrayLike<number>, low: ArrayLike<number>): [number, number] {
  let sum = 0;
  let lost = 0;
  for (let lane = 0; lane < high.length; lane++) {
    const x = high[lane]!;
    const next = sum + x;
    const part = next - sum;
    lost += sum - (next - part) + (x - part) + low[lane]!;
    sum = next;
  }
  const rounded = sum + lost;
  return [rounded, lost - (rounded - sum)];
}

/** The sum of two double-doubles, renormalised. TwoSum is from Knuth, The Art of Computer Programming, volume 2. */
export function addDoubles(aHigh: number, aLow: number, bHigh: number, bLow: number): [number, number] {
  const sum = aHigh + bHigh;
  const part = sum - aHigh;
  const low = aHigh - (sum - part) + (bHigh - part) + aLow + bLow;
  const high = sum + low;
  return Number.isFinite(high) ? [high, low - (high - sum)] : [high, 0];
}

/** (high + low) / count as a double-double: the quotient, and the quotient of the remainder. */
export function divideDouble(high: number, low: number, count: number): [number, number] {
  const quotient = meanOf(high, low, count);
  if (!Number.isFinite(quotient) || Math.abs(high) > LARGE) return [quotient, 0];
  const product = quotient * count;
  return [quotient, (high - product - lostBy(quotient, count, product) + low) / count];
}

/** 2^27 + 1: splits a double into two halves of 26 bits (Dekker 1971). */
const SPLITTER = 134217729;
/** Above this, splitting would overflow. */
const LARGE = 2 ** 990;

/**
 * (high + low) / count, correctly rounded except for rare ties. The mean of equal values is therefore that value. NaN
 * for count 0. The remainder is exact (Dekker's product).
 */
export function meanOf(high: number, low: number, count: number): number {
  if (count === 0) return Number.NaN;
  if (Math.abs(high) > LARGE) {
    if (!Number.isFinite(high)) return high;
    return meanOf(high * 2 ** -64, low * 2 ** -64, count) * 2 ** 64;
  }
  const quotient = high / count;
  const product = quotient * count;
  return quotient + (high - product - lostBy(quotient, count, product) + low) / count;
}

/** The exact rounding error of `product` = a * b (Dekker 1971). */
function lostBy(a: number, b: number, product: number): number {
  const aHigh = SPLITTER * a - (SPLITTER * a - a);
  const aLow = a - aHigh;
  const bHigh = SPLITTER * b - (SPLITTER * b - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}
