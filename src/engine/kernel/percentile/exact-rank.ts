/**
 * A rank as an exact fraction, `floor + rest / whole` with 0 <= rest < whole. `weight` is the double nearest to rest / whole,
 * of two equally near ones the even one. So it may be 0 for a rank below half the least double (p 5e-324), and 1 for a rank
 * just below the next whole one. `isWhole` is true only if `rest` is 0.
 */
export interface ExactRank {
  readonly floor: number;
  readonly weight: number;
  readonly isWhole: boolean;
  /** How `rest` compares with half of `whole`: negative, 0 or positive. */
  readonly half: number;
}

/** The plotting constants of the methods are whole numbers of 24ths: 1/3 is 8, 3/8 is 9, 1/2 is 12. */
export const PARTS = 24;

/**
 * The rank `n * q + alpha + q * (1 - alpha - beta) + shift / 24` for q = p / 100, where p is the decimal number that
 * JavaScript prints for it: 64.4 is 644 / 1000, not the binary fraction next to it. `alpha24`, `beta24` and `shift24`
 * count 24ths. Law: no rounding happens before `weight`. Whole numbers below 2^53 are computed as such, larger ones as
 * BigInt; both answer the same.
 */
export function exactRank(n: number, p: number, alpha24: number, beta24: number, shift24: number): ExactRank {
  const { digits, scale } = decimalOf(p);
  // Everything is multiplied by 24 * 100 * scale.
  if (typeof digits === "number" && typeof scale === "number") {
    const whole = PARTS * 100 * scale;
    if ((n + 1) * whole <= Number.MAX_SAFE_INTEGER) {
      const numerator = digits * (PARTS * n + PARTS - alpha24 - beta24) + (alpha24 + shift24) * 100 * scale;
      const guess = Math.floor(numerator / whole); // right, or one too many: the quotient was rounded
      const floor = guess * whole > numerator ? guess - 1 : guess;
      const rest = numerator - floor * whole;
      return { floor, weight: rest / whole, isWhole: rest === 0, half: 2 * rest - whole };
    }
  }
  const hundred = 100n * BigInt(scale);
  const whole = BigInt(PARTS) * hundred;
  const numerator = BigInt(digits) * BigInt(PARTS * n + PARTS - alpha24 - beta24) + BigInt(alpha24 + shift24) * hundred;
  const remainder = numerator % whole;
  const rest = remainder < 0n ? remainder + whole : remainder;
  return {
    floor: Number((numerator - rest) / whole),
    weight: quotient(rest, whole),
    isWhole: rest === 0n,
    half: Number(2n * rest > whole) - Number(2n * rest < whole),
  };
}

/** More bits than a double has: what is lost below them is kept as one bit that is set. */
const QUOTIENT_BITS = 64;
/** The least double is 2^-1074, and doubles below 2^-1022 are its multiples. */
const LEAST_EXPONENT = -1074;
const LEAST_NORMAL_EXPONENT = -1022;

/** The double nearest to `rest / whole` for 0 <= rest < whole. Both may exceed the range of a double. */
function quotient(rest: bigint, whole: bigint): number {
  if (rest === 0n) return 0;
  const exponent = bitsOf(rest) - bitsOf(whole); // the quotient is from 2^(exponent - 1) to 2^(exponent + 1)
  if (exponent <= LEAST_NORMAL_EXPONENT) return multipleOfLeast(rest, whole);
  const shift = BigInt(QUOTIENT_BITS - exponent);
  const bits = (rest << shift) / whole;
  const isInexact = bits * whole !== rest << shift;
  return Number(isInexact ? bits | 1n : bits) * 2 ** -QUOTIENT_BITS * 2 ** exponent;
}

function multipleOfLeast(rest: bigint, whole: bigint): number {
  const dividend = rest << BigInt(-LEAST_EXPONENT);
  const multiple = dividend / whole;
  const twiceLeft = 2n * (dividend % whole);
  const isUp = twiceLeft > whole || (twiceLeft === whole && multiple % 2n === 1n);
  return Number(isUp ? multiple + 1n : multiple) * 2 ** LEAST_EXPONENT;
}

function bitsOf(positive: bigint): number {
  return positive.toString(2).length;
}

/** Up to this scale, the decimal of p is found without text. p has at most 12 decimals then, so digits stay below 2^53. */
const MAX_QUICK_SCALE = 1e12;

interface Decimal {
  readonly digits: number | bigint;
  /** A power of ten. */
  readonly scale: number | bigint;
}

/** The last p and its decimal, because most queries repeat a percentile. */
let lastP = 0;
let lastDecimal: Decimal = { digits: 0, scale: 1 };

/** p as digits / scale: the shortest decimal that reads as p. Both are numbers, or both are bigints. */
function decimalOf(p: number): Decimal {
  if (p !== lastP) {
    lastDecimal = readDecimal(p);
    lastP = p;
  }
  return lastDecimal;
}

function readDecimal(p: number): Decimal {
  for (let scale = 1; scale <= MAX_QUICK_SCALE; scale *= 10) {
    const digits = Math.round(p * scale);
    if (digits / scale === p) return { digits, scale };
  }
  const [mantissa = "", exponent = "0"] = String(p).split("e");
  const [integer = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(integer + fraction), scale: 10n ** BigInt(fraction.length - Number(exponent)) };
}
