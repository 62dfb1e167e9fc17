import type { Column } from "../../src/engine/kernel/contract.ts";

const view = new DataView(new ArrayBuffer(8));

/** A finite double as a whole number of 2^(scale - 1074), exactly; `scale` is at most its own. */
function units(x: number, scale = 0): bigint {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const size = exponent === 0 ? fraction : (fraction | 0x10000000000000n) << BigInt(exponent - 1 - scale);
  return bits >> 63n ? -size : size;
}

/** The largest scale in which each finite value is whole: whole numbers of few bits are summed much faster. */
function commonScale(values: Column): number {
  let least = 2046;
  for (const value of values) {
    if (!Number.isFinite(value) || value === 0) continue;
    view.setFloat64(0, value);
    least = Math.min(least, Math.max(1, (view.getUint16(0) >> 4) & 0x7ff));
  }
  return least - 1;
}

/** numerator * 2^-scale / denominator, as a double right to about 2^-60 relative before its own rounding. */
function ratio(numerator: bigint, denominator: bigint, scale: number): number {
  if (numerator === 0n) return 0;
  const shift = Math.max(0, 1100 + denominator.toString(2).length - numerator.toString(2).length);
  const quotient = (numerator << BigInt(shift)) / denominator;
  const length = (quotient < 0n ? -quotient : quotient).toString(2).length;
  const cut = Math.max(0, length - 62);
  const power = cut - shift - scale;
  // In two steps, so that neither power leaves the range of f64.
  return Number(quotient >> BigInt(cut)) * 2 ** Math.trunc(power / 2) * 2 ** (power - Math.trunc(power / 2));
}

export interface Exact {
  sum: number;
  m2: number;
  /** In units of 2^-1074: the sum, and the sum of sizes. */
  sumUnits: bigint;
  sizeUnits: bigint;
}

/** Sum, and sum of squares about the exact mean, of the finite values: exact rational arithmetic, rounded at the end. */
export function exactMoments(values: Column): Exact {
  const scale = commonScale(values);
  let count = 0n;
  let sumUnits = 0n;
  let sizeUnits = 0n;
  let squares = 0n;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const x = units(value, scale);
    count++;
    sumUnits += x;
    sizeUnits += x < 0n ? -x : x;
    squares += x * x;
  }
  const m2 = count === 0n ? 0 : ratio(count * squares - sumUnits * sumUnits, count, 2 * (1074 - scale));
  const whole = BigInt(scale);
  return { sum: ratio(sumUnits, 1n, 1074 - scale), m2, sumUnits: sumUnits << whole, sizeUnits: sizeUnits << whole };
}

/** high + low - the exact sum, in relation to the sum of sizes. */
export function sumError({ sumUnits, sizeUnits }: Exact, high: number, low: number): number {
  if (sizeUnits === 0n) return Math.abs(high + low);
  return Math.abs(ratio(units(high) + units(low) - sumUnits, sizeUnits, 0));
}

/** The order of `sort`: -0 before +0, NaN last. */
export function inOrder(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  if (a !== b) return a < b ? -1 : 1;
  return Number(Object.is(b, -0)) - Number(Object.is(a, -0));
}

/** NumPy's pairwise sum, read literally: lists, and a rounding function after each addition. */
export function numpySum(values: readonly number[], round: (x: number) => number): number {
  return 0 + pairwise(values, round);
}

function pairwise(values: readonly number[], round: (x: number) => number): number {
  const add = (a: number, b: number) => round(a + b);
  const n = values.length;
  if (n < 8) return values.reduce(add, -0);
  if (n > 128) {
    const half = Math.floor(n / 2) - (Math.floor(n / 2) % 8);
    return add(pairwise(values.slice(0, half), round), pairwise(values.slice(half), round));
  }
  const rows = n - (n % 8);
  const r = Array.from({ length: 8 }, (_, lane) =>
    values
      .slice(0, rows)
      .filter((_value, i) => i % 8 === lane)
      .reduce(add),
  ) as [number, number, number, number, number, number, number, number];
  const folded = add(add(add(r[0], r[1]), add(r[2], r[3])), add(add(r[4], r[5]), add(r[6], r[7])));
  return values.slice(rows).reduce(add, folded);
}
