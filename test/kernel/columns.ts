import type { Column } from "../../src/engine/kernel/contract.ts";

export const TYPES = [Float32Array, Float64Array] as const;
export type ColumnType = (typeof TYPES)[number];

/** Every length that changes a path: vectors, lanes, insertion, blocks of 128 and 2048, both ways of selection. */
export const LENGTHS = [
  ...Array.from({ length: 71 }, (_, n) => n),
  ...[127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 1535, 1536, 2047, 2048, 2049, 4095, 4096, 4097],
];

/** A fixed pseudo-random sequence from 0 to below 1. */
export function randomOf(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    return x / 2 ** 32;
  };
}

const SPECIAL = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -0,
  0,
  5e-324,
  1e-45,
  -1e-45,
  1,
  -1,
  3e38,
  -3e38,
];

type Maker = (n: number, random: () => number) => number[];

/** Shapes of data that have broken kernels. */
export const SHAPES: Record<string, Maker> = {
  lognormal: (n, random) => fill(n, () => Math.exp(4 * random() - 2) * 20),
  wide: (n, random) => fill(n, () => (random() - 0.5) * 2 ** Math.floor(60 * random() - 30)),
  offset: (n, random) => fill(n, () => 1e6 + Math.floor(16 * random()) * 0.125),
  ties: (n, random) => fill(n, () => Math.floor(17 * random()) - 8),
  zeros: (n, random) => fill(n, () => [-0, 0, 0, 1][Math.floor(4 * random())]!),
  equal: (n) => fill(n, () => 0.1),
  sorted: (n) => fill(n, (i) => i - n / 2),
  reversed: (n) => fill(n, (i) => n / 2 - i),
  organPipe: (n) => fill(n, (i) => Math.min(i, n - i)),
  outlier: (n) => fill(n, (i) => (i === n >> 1 ? 1e16 : 0.1)),
  special: (n, random) => fill(n, () => SPECIAL[Math.floor(SPECIAL.length * random())]!),
};

function fill(n: number, make: (i: number) => number): number[] {
  return Array.from({ length: n }, (_, i) => make(i));
}

const GUARD = 0xa5;
const GUARD_BYTES = 40;

/** A column between guard bytes, at an address that is a multiple of its value's size and of nothing larger. */
export function guarded(Type: ColumnType, values: readonly number[]): { column: Column; check: () => boolean } {
  const size = Type.BYTES_PER_ELEMENT;
  const begin = GUARD_BYTES - (GUARD_BYTES % (2 * size)) + size;
  const bytes = new Uint8Array(begin + values.length * size + GUARD_BYTES).fill(GUARD);
  const column = new Type(bytes.buffer, begin, values.length);
  column.set(values);
  const end = begin + column.byteLength;
  const guards = Buffer.from([...bytes.subarray(0, begin), ...bytes.subarray(end)]).fill(GUARD);
  return {
    column,
    check: () => guards.equals(Buffer.concat([bytes.subarray(0, begin), bytes.subarray(end)])),
  };
}

/** The bytes of a column, to compare NaN and zeros too. */
export function bytesOf(column: ArrayBufferView): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength);
}
