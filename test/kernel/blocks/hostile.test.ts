// Damaged blocks: each gives one clear error or values, never another exception, and the same from both codecs.
// ORIEL_BLOCKS_SEED: which blocks.
import { expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import {
  decodeGroups,
  decodeValues,
  encodeBlock,
  outlineOf,
  partsOf,
} from "../../../src/engine/kernel/blocks/block.ts";
import type { BlockCodec } from "../../../src/engine/kernel/blocks/contract.ts";
import { readHead } from "../../../src/engine/kernel/blocks/head.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { decodeTimes } from "../../../src/engine/kernel/blocks/times.ts";
import { readTotals } from "../../../src/engine/kernel/blocks/totals.ts";
import { wasmCodec } from "../../../src/engine/kernel/blocks/wasm-codec.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { BLOCK_BYTES } from "../../../src/generated/layouts/block.ts";
import { randomOf, TYPES } from "../columns.ts";
import { hexOf, RANDOM_BITS, TIMES, timesOf, VALUES, valuesOf } from "./shapes.ts";

const SEED = Number(process.env.ORIEL_BLOCKS_SEED ?? Date.now() % 1e6);
const ROUNDS = 3000;
const wasm = wasmCodec();
const kernel = js.create();
console.info(`hostile blocks: ORIEL_BLOCKS_SEED=${SEED}`);

/** The answer of a reader, as text. An error other than CORRUPT is thrown again. */
function answer(codec: BlockCodec, block: Uint8Array): string {
  try {
    const head = readHead(block);
    const parts = partsOf(block, head);
    const out = new (head.wide ? Float64Array : Float32Array)(head.count);
    const times = new Float64Array(head.count);
    decodeTimes(codec, head, readTotals(head, parts.totals).earliestMs, parts.times, times);
    const timesRead = hexOf(times);
    decodeValues(codec, head, parts, out);
    const places = head.form === 0 ? [] : [...outlineOf(head, parts.head).places];
    const groups = places
      .slice(1)
      .map((end, i) => hexOf(decodeGroups(codec, head, parts.head, parts.body.subarray(places[i], end), i, i + 1)));
    return [timesRead, hexOf(out), ...groups].join(" ");
  } catch (error) {
    if (!(error instanceof OrielError) || error.code !== "CORRUPT") throw error;
    expect(error.message).toMatch(/^a block is damaged: \S/);
    return "CORRUPT";
  }
}

test("blocks with changed bytes", () => {
  const random = randomOf(SEED);
  const below = (n: number) => Math.floor(n * random());
  const shapes = [...Object.keys(VALUES), RANDOM_BITS];
  const times = Object.keys(TIMES);
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const count = 1 + below(random() < 0.5 ? 100 : 1024);
    const values = valuesOf(shapes[below(shapes.length)]!, TYPES[below(2)]!, count, random);
    const parts = encodeBlock(jsCodec, kernel, timesOf(times[below(times.length)]!, count, random), values);
    const block = Buffer.concat([parts.head, parts.totals, parts.body, parts.order, parts.times]);
    const reach = random() < 0.5 ? BLOCK_BYTES : block.length;
    for (let change = below(3); change >= 0; change--) block[below(reach)] = below(256);
    const shown = answer(wasm, block);
    expect(answer(jsCodec, block) === shown, `seed ${SEED} round ${round}`).toBe(true);
    if (shown === "CORRUPT") refused++;
  }
  expect(refused).toBeGreaterThan(ROUNDS / 10);
});

test("noise behind a sound header", () => {
  const random = randomOf(SEED + 1);
  const values = valuesOf("lognormal", Float32Array, 1024, random);
  const parts = encodeBlock(jsCodec, kernel, timesOf("one by one", 1024, random), values);
  const block = Buffer.concat([parts.head, parts.totals, parts.body, parts.order, parts.times]);
  for (let round = 0; round < 300; round++) {
    for (let i = BLOCK_BYTES; i < block.length; i++) block[i] = Math.floor(256 * random());
    expect(answer(jsCodec, block) === answer(wasm, block), `seed ${SEED} round ${round}`).toBe(true);
  }
});

test("a block that is cut, empty or too long is refused", () => {
  const random = randomOf(SEED + 2);
  const parts = encodeBlock(
    jsCodec,
    kernel,
    timesOf("one by one", 200, random),
    valuesOf("ties", Float32Array, 200, random),
  );
  const block = Buffer.concat([parts.head, parts.totals, parts.body, parts.order, parts.times]);
  for (let length = 0; length < block.length; length++) expect(answer(wasm, block.subarray(0, length))).toBe("CORRUPT");
  expect(answer(wasm, Buffer.concat([block, Buffer.alloc(1)]))).toBe("CORRUPT");
  expect(answer(wasm, block)).not.toBe("CORRUPT");
});

test("parts of another length are refused", () => {
  const random = randomOf(SEED + 3);
  const times = timesOf("one by one", 300, random);
  const parts = encodeBlock(wasm, kernel, times, valuesOf("lognormal", Float64Array, 300, random));
  const head = readHead(parts.head);
  const out = new Float64Array(300);
  for (const part of ["head", "body", "order"] as const) {
    const cut = { ...parts, [part]: parts[part].subarray(1) };
    expect(() => decodeValues(wasm, head, cut, out)).toThrow("a block is damaged: its");
  }
  expect(() => readTotals(head, parts.totals.subarray(1))).toThrow("a block is damaged: its totals");
  expect(() => decodeTimes(wasm, head, 0, parts.times.subarray(1), out)).toThrow("a block is damaged: its times");
});
