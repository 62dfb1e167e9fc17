// Blocks of pairs of a group number and a value: every bit comes back, in few bytes, and damage is one error.
// ORIEL_BLOCKS_SEED: which events.
import { describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { encodeBlock, partsOf } from "../../../src/engine/kernel/blocks/block.ts";
import type { BlockCodec, BlockParts } from "../../../src/engine/kernel/blocks/contract.ts";
import { decodeNumbers, encodeNumbers } from "../../../src/engine/kernel/blocks/group-numbers.ts";
import { readHead } from "../../../src/engine/kernel/blocks/head.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { pairCodec } from "../../../src/engine/kernel/blocks/pairs.ts";
import { readTotals } from "../../../src/engine/kernel/blocks/totals.ts";
import { wasmCodec } from "../../../src/engine/kernel/blocks/wasm-codec.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { MAX_IN_BLOCK, PAIRS } from "../../../src/generated/layouts/block.ts";
import { randomOf } from "../columns.ts";
import { MAX_NUMBER, NUMBERS, numbersOf, pairsOf } from "./pairs.ts";
import { hexOf, RANDOM_BITS, TIMES, timesOf, VALUES, valuesOf } from "./shapes.ts";

const SEED = Number(process.env.ORIEL_BLOCKS_SEED ?? Date.now() % 1e6);
const COUNTS = [1, 2, 3, 7, 31, 32, 33, 100, 513, 1023, 1024];
const SHAPES = [...Object.keys(VALUES), RANDOM_BITS];
const kernel = js.create();
const codecs = [wasmCodec(), jsCodec];
console.info(`blocks of pairs: ORIEL_BLOCKS_SEED=${SEED}`);

const whole = ({ head, totals, body, order, times }: BlockParts) => Buffer.concat([head, totals, body, order, times]);
const valuesIn = (shape: string, count: number, random: () => number) =>
  valuesOf(shape, Float32Array, count, random) as Float32Array;

function decoded(codec: BlockCodec, block: Uint8Array): { times: Float64Array; pairs: Float64Array } {
  const head = readHead(block);
  const times = new Float64Array(head.count);
  const pairs = new Float64Array(head.count);
  pairCodec.decode(codec, head, partsOf(block, head), times, pairs);
  return { times, pairs };
}

describe.each(Object.keys(NUMBERS))("group numbers: %s", (shape) => {
  test("come back, in order of arrival, from exactly their bytes", () => {
    const random = randomOf(SEED);
    for (let round = 0; round < 200; round++) {
      const count = COUNTS[round] ?? 1 + Math.floor(MAX_IN_BLOCK * random());
      const what = `${shape} ${count} seed ${SEED}`;
      const numbers = Uint32Array.from(numbersOf(shape, count, random));
      const bytes = encodeNumbers(numbers).slice();
      const out = new Uint32Array(count);
      for (const after of [0, 1, 9000]) {
        out.fill(1);
        const followed = Buffer.concat([bytes, Buffer.alloc(after, 0xff)]);
        expect(decodeNumbers(followed, count, out), what).toBe(bytes.length);
        expect(hexOf(out) === hexOf(numbers), what).toBe(true);
      }
      const widthBits = 32 - Math.clz32(Math.max(...numbers));
      expect(bytes.length, what).toBeLessThanOrEqual(Math.max(7, 3 + Math.ceil((count * widthBits) / 8)));
    }
  });

  test("come back with their values and times, by both codecs", () => {
    const random = randomOf(SEED + 1);
    for (const [i, values] of SHAPES.entries()) {
      const count = COUNTS[i % COUNTS.length]!;
      const what = `${shape} ${values} ${count} seed ${SEED}`;
      const times = timesOf(Object.keys(TIMES)[i % Object.keys(TIMES).length]!, count, random);
      const column = valuesIn(values, count, random);
      const pairs = pairsOf(numbersOf(shape, count, random), column);
      const [wasm, twin] = codecs.map((codec) => whole(pairCodec.encode(codec, kernel, times, pairs)));
      expect(wasm!.equals(twin!), what).toBe(true);
      for (const codec of codecs) {
        const found = decoded(codec, wasm!);
        expect(hexOf(found.pairs) === hexOf(pairs), what).toBe(true);
        expect(hexOf(found.times) === hexOf(times), what).toBe(true);
      }
    }
  });
});

test("a block of pairs has the head, totals and parts of its values, except the times", () => {
  const random = randomOf(SEED + 2);
  for (const shape of SHAPES) {
    const values = valuesIn(shape, 700, random);
    const times = timesOf("one by one", 700, random);
    const plain = encodeBlock(jsCodec, kernel, times, values);
    const parts = pairCodec.encode(jsCodec, kernel, times, pairsOf(numbersOf("zipf", 700, random), values));
    for (const part of ["totals", "body", "order"] as const) expect(parts[part], shape).toEqual(plain[part]);
    const head = readHead(parts.head);
    expect({ ...head, timesBytes: plain.times.length }, shape).toEqual(readHead(plain.head));
    expect(parts.head[1], shape).toBe(PAIRS);
    expect(head.wide).toBe(false);
    expect(readTotals(head, parts.totals).summary, shape).toEqual(kernel.summary(values));
    expect(hexOf(pairCodec.valuesOf(pairsOf(numbersOf("even", 700, random), values)))).toBe(hexOf(values));
  }
});

describe("the bytes of a group number", () => {
  test.each([
    ["zipf", 1.08],
    ["even", 1.26],
    ["one", 0.007],
    ["only others", 0.007],
    ["rarely another", 0.17],
    ["all classes, halved", 0.45],
    ["even, all bits", 2.51],
  ])("%s: at most %f", (shape, bytes) => {
    const make = NUMBERS[shape]!();
    const random = randomOf(5);
    let sum = 0;
    for (let i = 0; i < 64; i++)
      sum += encodeNumbers(Uint32Array.from({ length: MAX_IN_BLOCK }, (_, k) => make(random, k))).length;
    expect(sum / 64 / MAX_IN_BLOCK).toBeLessThanOrEqual(bytes);
  });
});

/** The pairs of a block as text. An error other than CORRUPT is thrown again. */
function answer(codec: BlockCodec, block: Uint8Array): string {
  try {
    const { times, pairs } = decoded(codec, block);
    const halves = new Uint32Array(pairs.buffer);
    expect(halves.every((half, i) => i % 2 === 0 || half - 0x4000_0000 <= MAX_NUMBER)).toBe(true);
    return `${hexOf(times)} ${hexOf(pairs)}`;
  } catch (error) {
    if (!(error instanceof OrielError) || error.code !== "CORRUPT") throw error;
    expect(error.message).toMatch(/^a block is damaged: \S/);
    return "CORRUPT";
  }
}

describe("damage", () => {
  test("of a byte: one error or pairs, the same from both codecs", () => {
    const random = randomOf(SEED + 3);
    const below = (n: number) => Math.floor(n * random());
    const shapes = Object.keys(NUMBERS);
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      const count = 1 + below(random() < 0.5 ? 100 : 1024);
      const times = timesOf("batches of any size", count, random);
      const values = valuesIn(SHAPES[below(SHAPES.length)]!, count, random);
      const pairs = pairsOf(numbersOf(shapes[below(shapes.length)]!, count, random), values);
      const parts = pairCodec.encode(jsCodec, kernel, times, pairs);
      const block = whole(parts);
      // Half of them change the beginning of the group numbers: their length, width and codes.
      const from = random() < 0.5 ? block.length - parts.times.length : 0;
      const reach = from > 0 && random() < 0.8 ? Math.min(16, parts.times.length) : block.length - from;
      for (let change = below(3); change >= 0; change--) block[from + below(reach)] = below(256);
      const [wasm, twin] = codecs.map((codec) => answer(codec, block));
      expect(wasm === twin, `seed ${SEED} round ${round}`).toBe(true);
      if (wasm === "CORRUPT") refused++;
    }
    expect(refused).toBeGreaterThan(100);
  });

  test.each(Object.keys(NUMBERS))("of the length: each cut block of %s is refused", (shape) => {
    const random = randomOf(SEED + 4);
    const count = 60 + Math.floor(60 * random());
    const pairs = pairsOf(numbersOf(shape, count, random), valuesIn("ties", count, random));
    const block = whole(pairCodec.encode(jsCodec, kernel, timesOf("one by one", count, random), pairs));
    for (let length = 0; length < block.length; length++)
      expect(answer(jsCodec, block.subarray(0, length)), `${length} bytes`).toBe("CORRUPT");
    expect(answer(jsCodec, Buffer.concat([block, Buffer.alloc(1)]))).toBe("CORRUPT");
    expect(answer(jsCodec, block)).not.toBe("CORRUPT");
  });

  test("of the numbers alone: noise, other counts, and numbers that are too large", () => {
    const random = randomOf(SEED + 5);
    const out = new Uint32Array(MAX_IN_BLOCK);
    for (let round = 0; round < 20_000; round++) {
      const noise = Uint8Array.from({ length: Math.floor(40 * random()) }, () => 256 * random());
      if (random() < 0.5) noise.set([noise.length - 3, 0, [0, 10, 20, 21, 255][round % 5]!].slice(0, noise.length));
      const end = decodeNumbers(noise, 1 + (round % 200), out);
      expect(end === -1 || (end >= 3 && end <= noise.length)).toBe(true);
    }
    for (const shape of ["zipf", "even", "rising"]) {
      const bytes = encodeNumbers(Uint32Array.from(numbersOf(shape, 500, random))).slice();
      for (const count of [1, 400, 510, 1024]) expect(decodeNumbers(bytes, count, out), shape).toBe(-1);
      for (let length = 0; length < bytes.length; length++)
        expect(decodeNumbers(bytes.subarray(0, length), 500, out), shape).toBe(-1);
    }
    const one = encodeNumbers(Uint32Array.of(5, 5)).slice();
    expect(decodeNumbers(one, 2, out)).toBe(one.length);
    one[one.length - 2] = 0x10;
    expect(decodeNumbers(one, 2, out)).toBe(-1);
  });
});
