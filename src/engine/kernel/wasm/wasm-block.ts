import type { Block } from "../passes/passes.ts";

/** Decodes record `i` of assembly/sums/fold.ts: 10 numbers, the last four of which hold counts. */
export function blockOf(numbers: Float64Array, counts: Uint32Array, i: number, count: number): Block {
  const at = 10 * i;
  const nan = counts[2 * at + 12]!;
  const positiveInfinity = counts[2 * at + 13]!;
  const negativeInfinity = counts[2 * at + 14]!;
  const negativeZero = counts[2 * at + 15]!;
  const positiveZero = counts[2 * at + 16]!;
  const plain = (nan | positiveInfinity | negativeInfinity | negativeZero | positiveZero) === 0;
  return {
    count,
    sumHigh: numbers[at]!,
    sumLow: numbers[at + 1]!,
    squares: numbers[at + 2]!,
    about: numbers[at + 3]!,
    min: numbers[at + 4]!,
    max: numbers[at + 5]!,
    census: plain ? undefined : { nan, positiveInfinity, negativeInfinity, negativeZero, positiveZero },
  };
}
