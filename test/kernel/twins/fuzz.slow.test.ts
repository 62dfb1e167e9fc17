// Raw bytes: random and mutated frames at every alignment, each between guard bytes that differ from form to form.
// A form that read outside its frame, or behind its column in linear memory, would answer differently from the others.
// ORIEL_FUZZ_FRAMES: how many frames (default 100 000). ORIEL_FUZZ_SEED: which.
import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { forceKernel, kernel } from "../../../src/entries/kernel.ts";
import { randomOf } from "../columns.ts";

const FRAMES = Number(process.env.ORIEL_FUZZ_FRAMES ?? 100_000);
const SEED = Number(process.env.ORIEL_FUZZ_SEED ?? 7);
const GUARDS = { "wasm-simd": 0x00, "wasm-scalar": 0x7f, js: 0xff } as const;
const GUARD_BYTES = 32;
/** Frames that share a digest: what a difference is narrowed down to. */
const BATCH = 1000;

type Random = () => number;
const below = (random: Random, n: number) => Math.floor(random() * n);

/** A frame of `size` bytes: noise, or values that rise, with some bytes changed. Now and then one that needs a sample. */
function frameOf(random: Random, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  if (random() < 0.5) for (let i = 0; i < size; i++) bytes[i] = below(random, 256);
  else {
    const values = new Float32Array(bytes.buffer, 0, size >> 2);
    for (let i = 0; i < values.length; i++) values[i] = i * (1 + random());
    for (let i = below(random, 4); i > 0 && size > 0; i--) bytes[below(random, size)] = below(random, 256);
  }
  return bytes;
}

function between(bytes: Uint8Array, offset: number, guard: number): { slice: Uint8Array; intact: () => boolean } {
  const whole = Buffer.alloc(bytes.length + 2 * GUARD_BYTES + 8, guard);
  whole.set(bytes, GUARD_BYTES + offset);
  const before = Buffer.from(whole);
  const start = GUARD_BYTES + offset;
  return { slice: whole.subarray(start, start + bytes.length), intact: () => whole.equals(before) };
}

/** The expected complaint about a frame, or null if it is valid. */
function fault(name: string, bytes: Uint8Array, size: number): string | null {
  const rest = bytes.length % size;
  if (rest === 0) return null;
  return `CORRUPT: ${name} ends in the middle of a value: ${rest} of ${size} bytes at offset ${bytes.length - rest}`;
}

const shown = (x: number) => (Object.is(x, -0) ? "-0" : String(x));
const hex = (column: ArrayBufferView) =>
  Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString("hex");

/** One call on one frame, as text; throws where the guards changed or the error is not the one to expect. */
function answer(random: Random, guard: number): string {
  const long = random() < 0.01;
  const type = random() < 0.5 ? "f32" : "f64";
  const width = type === "f32" ? 4 : 8;
  const size = random() < 0.75 ? width * below(random, long ? 3000 : 40) : below(random, long ? 20_000 : 160);
  const values = frameOf(random, size);
  const count = random() < 0.8 ? Math.floor(size / width) * 8 : below(random, 160);
  const times = random() < 0.9 ? count : count + 1;
  const timeBytes = frameOf(random, times);
  const column = between(values, below(random, 8), guard);
  const instants = between(timeBytes, below(random, 8), guard);
  const nan = random() < 0.5 ? "ignore" : "propagate";
  const compat = random() < 0.5 ? "strict" : "numpy";
  const p = below(random, 101);
  const call = below(random, 6);
  const edge = below(random, 2 ** 48);
  const expected =
    (call >= 4 ? fault("times", timeBytes, 8) : null) ??
    fault("values", values, width) ??
    (call >= 4 && timeBytes.length / 8 !== size / width ? "ARGUMENT" : null);
  let text: string;
  try {
    const options = { type, nan, compat } as const;
    if (call === 0) text = shown(kernel.sum(column.slice, options));
    else if (call === 1) text = Object.values(kernel.moments(column.slice, options)).map(shown).join();
    else if (call === 2) text = shown(kernel.percentile(column.slice, p, options));
    else if (call === 3) text = kernel.percentile(column.slice, [p, 50, 99], options).map(shown).join();
    else if (call === 5) {
      const answer = kernel.stats(instants.slice, column.slice, -edge, { ...options, until: edge, percentiles: [p] });
      text = [...Object.values(answer).slice(0, -2), answer.percentiles[p]].map((x) => shown(x as number)).join();
    } else {
      const inside = kernel.trim(instants.slice, column.slice, -edge, { type, until: edge });
      text = hex(inside.times) + hex(inside.values);
    }
  } catch (error) {
    if (!(error instanceof OrielError)) throw error;
    text = error.code === "CORRUPT" ? `CORRUPT: ${OrielError.detailOf(error)}` : error.code;
    if (text !== expected) throw error;
  }
  if (expected !== null && text !== expected) throw new Error(`answered ${text} where this is right: ${expected}`);
  if (!column.intact() || !instants.intact()) throw new Error("changed its input or the bytes around it");
  return text;
}

function digests(name: keyof typeof GUARDS): string[] {
  forceKernel(name);
  const found: string[] = [];
  for (let batch = 0; batch * BATCH < FRAMES; batch++) {
    const hash = createHash("sha1");
    const random = randomOf(SEED * 1_000_003 + batch * 7919);
    for (let i = 0; i < Math.min(BATCH, FRAMES - batch * BATCH); i++) hash.update(`${answer(random, GUARDS[name])}\n`);
    found.push(hash.digest("hex"));
  }
  return found;
}

afterAll(() => forceKernel(null));

test(`${FRAMES} frames, seed ${SEED}: CORRUPT with the offset, or the same answer in every kernel`, () => {
  const simd = digests("wasm-simd");
  expect(digests("wasm-scalar")).toEqual(simd);
  expect(digests("js")).toEqual(simd);
});
