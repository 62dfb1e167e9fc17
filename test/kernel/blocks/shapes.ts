// Values and times of blocks that take every way through the codec.
import type { Column } from "../../../src/engine/kernel/contract.ts";
import type { ColumnType } from "../columns.ts";

export type Random = () => number;
type Value = (random: Random, i: number, count: number) => number;

const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const lognormal = (random: Random, sigma: number) => 5 * Math.exp(sigma * normal(random));
const rounded = (x: number, digits: number) => Number(x.toFixed(digits));

export const VALUES: Record<string, Value> = {
  "lognormal to 1 us": (random) => rounded(lognormal(random, 0.8), 3),
  "lognormal to 1 ms": (random) => rounded(lognormal(random, 0.8), 0),
  lognormal: (random) => lognormal(random, 1),
  uniform: (random) => 1000 * random(),
  negative: (random) => rounded(100 * normal(random), 2),
  ties: (random) => Math.round(8 * random()),
  "zero or one": (random) => (random() < 0.5 ? 0 : 1),
  "mostly zero": (random) => (random() < 0.98 ? 0 : rounded(lognormal(random, 1), 3)),
  equal: () => 4.25,
  rising: (_, i) => 1000 + i,
  falling: (_, i, count) => count - i,
  "one far outlier": (_, i, count) => (i === count >> 1 ? 1e300 : 0.1 * i),
  "decimals and exceptions": (random) =>
    random() < 0.97
      ? rounded(lognormal(random, 0.5), 2)
      : [Number.NaN, -0, 1 / 3, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][Math.floor(5 * random())]!,
  special: (random) =>
    [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, 5e-324, 1e-45, -1e-45, 1, 3e38][
      Math.floor(10 * random())
    ]!,
  wide: (random) => (random() - 0.5) * 2 ** Math.floor(60 * random() - 30),
  "large integers": (random) => Math.floor(2 ** 53 * random()),
  cluster: (random) => 1e6 + random() * 1e-6,
};

/** A column of a shape, or of random bits, NaN payloads among them. */
export function valuesOf(shape: string, Type: ColumnType, count: number, random: Random): Column {
  const column = new Type(count);
  const make = VALUES[shape];
  if (make) for (let i = 0; i < count; i++) column[i] = make(random, i, count);
  else {
    const bytes = new Uint8Array(column.buffer);
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(256 * random());
  }
  return column;
}

export const RANDOM_BITS = "random bits";

type Times = (random: Random, count: number) => number[];

const walk = (count: number, step: (i: number) => number, from = 1_790_000_000_000) => {
  let ms = from;
  return Array.from({ length: count }, (_, i) => {
    ms += step(i);
    return Math.floor(ms);
  });
};

export const TIMES: Record<string, Times> = {
  "batches of 32": (random, count) => walk(count, (i) => (i % 32 === 0 ? 32 * random() : 0)),
  "batches of any size": (random, count) => walk(count, () => (random() < 0.05 ? 40 * random() : 0)),
  "one by one": (random, count) => walk(count, () => -Math.log(1 - random())),
  "each minute": (_, count) => walk(count, () => 60_000),
  equal: (_, count) => walk(count, () => 0),
  "out of order": (random, count) => walk(count, () => 1).map((ms) => ms - Math.floor(80 * random())),
  "before 1970": (random, count) => walk(count, () => 5 * random(), -1000),
  fractions: (random, count) => walk(count, () => 1).map((ms) => ms + random()),
  "far apart": (random, count) => walk(count, () => 2 ** 40 * random()),
  "a few far apart": (random, count) => walk(count, () => (random() < 0.1 ? 2 ** 26 * random() : 0)),
};

export function timesOf(shape: string, count: number, random: Random): Float64Array {
  return Float64Array.from(TIMES[shape]!(random, count));
}

export function hexOf(column: ArrayBufferView): string {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString("hex");
}

/** The bits of floats as integers of the same order. A law of its own, which no form of the codec uses. */
export function orderedBits(column: Column): bigint[] {
  const { buffer, byteOffset, length } = column;
  const signed =
    column instanceof Float64Array
      ? Array.from(new BigInt64Array(buffer, byteOffset, length))
      : Array.from(new Int32Array(buffer, byteOffset, length), BigInt);
  const lowest = column instanceof Float64Array ? -(2n ** 63n) : -(2n ** 31n);
  return signed.map((raw) => (raw < 0n ? lowest - raw - 1n : raw));
}
