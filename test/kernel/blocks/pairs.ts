// Pairs of a group number and a value, by the definition, and numbers as groups have them.
import type { Random } from "./shapes.ts";

export const MAX_NUMBER = 2 ** 20 - 1;

/** The pair of a group number and the bits of an f32. */
function pairOfBits(number: number, bits: number): bigint {
  const isNegative = bits >= 2 ** 31;
  const key = isNegative ? 2 ** 32 - 1 - bits : bits + 2 ** 31;
  return (BigInt(0x4000_0000 + number) << 32n) + BigInt(key);
}

export function pairsOf(numbers: readonly number[], values: Float32Array): Float64Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const pairs = BigUint64Array.from(numbers, (number, i) => pairOfBits(number, bits[i]!));
  return new Float64Array(pairs.buffer);
}

/** The numbers of groups that are drawn with chances of 1 / rank, in order of first appearance, from 1 on. */
function zipf(groups: number): (random: Random) => number {
  const seen = new Map<number, number>();
  const sums: number[] = [];
  for (let rank = 1; rank <= groups; rank++) sums.push((sums.at(-1) ?? 0) + 1 / rank);
  return (random) => {
    const at = random() * sums.at(-1)!;
    let rank = 0;
    for (let step = 2 ** Math.floor(Math.log2(groups)); step >= 1; step /= 2)
      if (rank + step <= groups && sums[rank + step - 1]! <= at) rank += step;
    if (!seen.has(rank)) seen.set(rank, seen.size + 1);
    return seen.get(rank)!;
  };
}

const below = (random: Random, n: number) => Math.floor(n * random());

/** Each makes a source of numbers. */
export const NUMBERS: Record<string, () => (random: Random, i: number) => number> = {
  zipf: () => zipf(1000),
  "zipf of many": () => zipf(2 ** 18),
  even: () => (random) => 1 + below(random, 1000),
  "even, all bits": () => (random) => below(random, MAX_NUMBER + 1),
  one: () => () => 7,
  "the largest": () => () => MAX_NUMBER,
  "only others": () => () => 0,
  "two far apart": () => (random) => (random() < 0.5 ? 0 : MAX_NUMBER),
  "rarely another": () => (random) => (random() < 0.004 ? below(random, MAX_NUMBER + 1) : 1),
  "one class": () => (random) => 512 + below(random, 512),
  "all classes, halved": () => (random) => {
    const its = Math.min(20, Math.floor(-Math.log2(1 - random())));
    return its === 0 ? 0 : 2 ** (its - 1) + below(random, 2 ** (its - 1));
  },
  "all classes, even": () => (random, i) => {
    const its = i % 21;
    return its === 0 ? 0 : 2 ** (its - 1) + below(random, 2 ** (its - 1));
  },
  rising: () => (_, i) => i,
};

export function numbersOf(shape: string, count: number, random: Random): number[] {
  const make = NUMBERS[shape]!();
  return Array.from({ length: count }, (_, i) => make(random, i));
}
