import type { Block } from "./passes.ts";

/** Record `i` of assembly/fold.ts: 10 numbers, of which the last four are counts. */
export function blockOf(numbers: Float64Array, counts: Uint32Array, i: number, count: number): Block {
  const at = 10 * i;
  const special = counts.subarray(2 * at + 12, 2 * at + 17);
  const [nan, positiveInfinity, negativeInfinity, negativeZero, positiveZero] = [
    special[0]!,
    special[1]!,
    special[2]!,
    special[3]!,
    special[4]!,
  ];
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
