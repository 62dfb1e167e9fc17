import type { Column } from "./contract.ts";
import { numberAbove, numberBelow } from "./neighbour.ts";

/** Two values, between which a rank most likely lies, and the limits, both included, of what is strictly between them. */
export interface Bracket {
  low: number;
  high: number;
  first: number;
  last: number;
}

/**
 * A bracket for each rank, from one sample of the column that `sort` puts in order; null when the sample meets a NaN.
 * Its size balances its own cost with that of the values inside the brackets. `seed` (32 bits) moves its places; `part` of 1 makes
 * it smaller, for a slower sort.
 */
export function bracketsOf(
  values: Column,
  ranks: readonly number[],
  seed: number,
  part: number,
  sort: (sample: Column) => Column,
): Bracket[] | null {
  const n = values.length;
  const deviations = ranks.map((k) => Math.sqrt(((k + 0.5) / n) * (1 - (k + 0.5) / n)));
  const balance = part * ((n / 2) * Math.max(...deviations)) ** (2 / 3);
  const sample = sampleOf(values, Math.floor(Math.min(16384, Math.max(256, balance))), seed);
  if (sample === null) return null;
  const sorted = sort(sample);
  return ranks.map((k, i) => bracketOf(values, sorted, ((k + 0.5) / n) * sorted.length, deviations[i]!));
}

/** One value from each stride, at a place that no period in the data can follow. */
function sampleOf(values: Column, size: number, seed: number): Column | null {
  const sample = values instanceof Float32Array ? new Float32Array(size) : new Float64Array(size);
  const stride = values.length / size;
  let random = seed;
  let allNumbers = true;
  for (let i = 0; i < size; i++) {
    random = (Math.imul(1664525, random) + 1013904223) >>> 0;
    const x = values[Math.min(values.length - 1, Math.floor((i + random * 2 ** -32) * stride))]!;
    if (Number.isNaN(x)) allNumbers = false;
    sample[i] = x;
  }
  return allNumbers ? sample : null;
}

/** 3.2 standard deviations of a sample's rank and 2 ranks to either side. */
function bracketOf(values: Column, sorted: Column, centre: number, deviation: number): Bracket {
  const slack = 3.2 * deviation * Math.sqrt(sorted.length) + 2;
  const from = Math.floor(centre - slack);
  const to = Math.ceil(centre + slack);
  const low = from < 0 ? Number.NEGATIVE_INFINITY : sorted[from]!;
  const high = to >= sorted.length ? Number.POSITIVE_INFINITY : sorted[to]!;
  return {
    low,
    high,
    first: from < 0 ? low : numberAbove(values, low),
    last: to >= sorted.length ? high : numberBelow(values, high),
  };
}
