// Blocks of random events: each codec restores every bit, both write the same bytes, and each part can be read alone.
// ORIEL_BLOCKS_SEED: which events.
import { describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import {
  decodeGroups,
  decodeValues,
  encodeBlock,
  exceptionsOf,
  outlineOf,
  partsOf,
} from "../../../src/engine/kernel/blocks/block.ts";
import type { BlockParts } from "../../../src/engine/kernel/blocks/contract.ts";
import { readHead } from "../../../src/engine/kernel/blocks/head.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { decodeTimes } from "../../../src/engine/kernel/blocks/times.ts";
import { readTotals } from "../../../src/engine/kernel/blocks/totals.ts";
import { wasmCodec } from "../../../src/engine/kernel/blocks/wasm-codec.ts";
import type { Column } from "../../../src/engine/kernel/contract.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { GROUP, MAX_IN_BLOCK } from "../../../src/generated/layouts/block.ts";
import { randomOf, TYPES } from "../columns.ts";
import { hexOf, orderedBits, RANDOM_BITS, TIMES, timesOf, VALUES, valuesOf } from "./shapes.ts";

const SEED = Number(process.env.ORIEL_BLOCKS_SEED ?? Date.now() % 1e6);
const COUNTS = [1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 511, 512, 513, 991, 992, 993, 1023, 1024];
const kernel = js.create();
const codecs = [wasmCodec(), jsCodec];
console.info(`blocks: ORIEL_BLOCKS_SEED=${SEED}`);

const whole = ({ head, totals, body, order, times }: BlockParts) => Buffer.concat([head, totals, body, order, times]);
const emptied = (column: Column) => new (column.constructor as typeof Float64Array)(column.length);
const ascending = (column: Column) => orderedBits(column).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** Without the text of all bytes in the message. */
function expectSame(a: ArrayBufferView, b: ArrayBufferView, what: string): void {
  expect(hexOf(a) === hexOf(b), what).toBe(true);
}

/** Encodes with both codecs, compares, and returns the block. */
function encoded(times: Float64Array, values: Column, what: string): Uint8Array {
  const [wasm, twin] = codecs.map((codec) => whole(encodeBlock(codec, kernel, times, values)));
  expectSame(wasm!, twin!, what);
  return wasm!;
}

describe.each([...Object.keys(VALUES), RANDOM_BITS])("values: %s", (shape) => {
  test.each(TYPES)("%o", (Type) => {
    const random = randomOf(SEED);
    for (const count of COUNTS) {
      const what = `${shape} ${Type.name} ${count} seed ${SEED}`;
      const values = valuesOf(shape, Type, count, random);
      const block = encoded(timesOf("equal", count, random), values, what);
      const head = readHead(block);
      const parts = partsOf(block, head);
      expect(readTotals(head, parts.totals).summary, what).toEqual(kernel.summary(values));
      for (const codec of codecs) {
        const out = emptied(values);
        decodeValues(codec, head, parts, out);
        expectSame(out, values, what);
        if (head.form === 0) continue;
        const { head: bytes, body } = parts;
        decodeValues(codec, head, { head: bytes, body }, out);
        expect(ascending(out), what).toEqual(ascending(values));
        const regular = count - head.exceptions;
        expect(orderedBits(out.subarray(0, regular)), what).toEqual(ascending(out.subarray(0, regular)));
        expectSame(exceptionsOf(head, bytes), out.subarray(regular), what);
        const { places, least } = outlineOf(head, bytes);
        expect(places.length).toBe(Math.ceil(regular / GROUP) + 1);
        const smallest = orderedBits(out.subarray(0, regular)).filter((_, i) => i % GROUP === 0);
        if (head.shift === 0) expect(orderedBits(least), what).toEqual(smallest);
        else for (const [i, bits] of orderedBits(least).entries()) expect(bits <= smallest[i]!, what).toBe(true);
        const first = Math.floor(random() * (places.length - 1));
        for (const last of [first + 1, places.length - 1]) {
          const some = decodeGroups(codec, head, bytes, body.subarray(places[first], places[last]), first, last);
          expectSame(some, out.subarray(first * GROUP, Math.min(regular, last * GROUP)), what);
        }
      }
    }
  });
});

test.each(Object.keys(TIMES))("times: %s", (shape) => {
  const random = randomOf(SEED + 1);
  for (const count of COUNTS) {
    const what = `${shape} ${count} seed ${SEED}`;
    const times = timesOf(shape, count, random);
    const block = encoded(times, valuesOf("equal", Float32Array, count, random), what);
    const head = readHead(block);
    const { totals, times: timeBytes } = partsOf(block, head);
    const { earliestMs, latestMs } = readTotals(head, totals);
    expect([earliestMs, latestMs], what).toEqual([Math.min(...times), Math.max(...times)]);
    for (const codec of codecs) {
      const out = new Float64Array(count);
      decodeTimes(codec, head, earliestMs, timeBytes, out);
      expectSame(out, times, what);
    }
  }
});

test("times with steps of any size are restored", () => {
  const random = randomOf(SEED + 2);
  for (let round = 0; round < 400; round++) {
    const count = 1 + Math.floor(MAX_IN_BLOCK * random() ** 2);
    const span = 2 ** (32 * random());
    const earliestMs = Math.floor((random() - 0.5) * 2 ** Math.floor(60 * random()));
    const numbers = Uint32Array.from({ length: count }, () => span * random() ** (1 + 4 * random())).sort();
    const times = Float64Array.from(numbers, (number) => earliestMs + number);
    const what = `seed ${SEED} round ${round}`;
    const [wasm, twin] = codecs.map((codec) => {
      const { bytes, ...fields } = codec.encodeTimes(times);
      return { ...fields, bytes: bytes && hexOf(bytes) };
    });
    expect(wasm, what).toEqual(twin);
    const block = encoded(times, new Float32Array(count), what);
    const head = readHead(block);
    for (const codec of codecs) {
      const out = new Float64Array(count);
      decodeTimes(codec, head, times[0]!, partsOf(block, head).times, out);
      expectSame(out, times, what);
    }
  }
});

describe("the size of a block", () => {
  const sizeOf = (times: string, values: string, Type = TYPES[0]) => {
    const random = randomOf(31);
    const rounds = 8;
    let sizeBytes = 0;
    for (let i = 0; i < rounds; i++) {
      const column = valuesOf(values, Type, MAX_IN_BLOCK, random);
      sizeBytes += whole(encodeBlock(jsCodec, kernel, timesOf(times, MAX_IN_BLOCK, random), column)).length;
    }
    return sizeBytes / rounds / MAX_IN_BLOCK;
  };

  test.each([
    ["batches of 32", "lognormal to 1 us", 2.1],
    ["one by one", "lognormal to 1 us", 2.4],
    ["batches of 32", "lognormal", 3.55],
    ["batches of 32", RANDOM_BITS, 4.15],
    ["batches of 32", "ties", 0.68],
    ["batches of 32", "mostly zero", 0.3],
    ["equal", "equal", 0.11],
  ])("%s, %s: at most %f bytes an event", (times, values, bytes) => {
    expect(sizeOf(times, values)).toBeLessThanOrEqual(bytes);
  });
});

test("refuses no events, too many, and other numbers of times and values", () => {
  for (const [times, values] of [
    [0, 0],
    [1025, 1025],
    [2, 3],
  ])
    expect(() => encodeBlock(jsCodec, kernel, new Float64Array(times!), new Float32Array(values!))).toThrow(OrielError);
});
