// The rolling kernels write nothing outside their regions, whatever the values and windows.
import { expect, test } from "vitest";
import { bytesOf, instantiate, type WasmExports } from "../../../src/engine/kernel/wasm/wasm-exports.ts";
import { wasmBase64 as scalarBase64 } from "../../../src/generated/kernels.scalar.ts";
import { wasmBase64 as simdBase64 } from "../../../src/generated/kernels.simd.ts";
import { randomOf, SHAPES } from "../columns.ts";

/** Regions one after the other with 64 bytes between them, which hold the pattern as all else does. */
function layOut(from: number, sizes: Record<string, number>): Record<string, { at: number; bytes: number }> {
  let at = from;
  return Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => {
      const region = { at, bytes };
      at = Math.ceil((at + bytes + 64) / 64) * 64;
      return [name, region];
    }),
  );
}

function checkGuards(wasm: WasmExports, wide: boolean, made: readonly number[], window: number): void {
  const count = made.length;
  const level0 = (count >> 6) + 2;
  const level1 = (level0 >> 6) + 2;
  const warm = Math.min(window, count) - 1;
  const answered = count - warm;
  const base = Math.ceil((wasm.heapBase() >>> 0) / 64) * 64 + 64;
  const at = layOut(base, {
    values: count * (wide ? 8 : 4),
    pairs: count * 8,
    scratch: count * 8,
    histograms: 3 * 8192,
    ranks: count * 4,
    starts: answered * 4,
    lower: (window + 1) * 4,
    weight: (window + 1) * 8,
    bits: (1 + level0 + level1 + (level1 >> 6) + 2) * 8,
  }) as Record<string, { at: number; bytes: number }>;
  const place = (name: string) => at[name]!.at;
  const { buffer } = wasm.memory;
  const memory = new Uint8Array(buffer);
  memory.fill(0xa5, base - 64);
  if (wide) new Float64Array(buffer, place("values"), count).set(made);
  else new Float32Array(buffer, place("values"), count).set(made);
  for (let i = 0; i < answered; i++) new Uint32Array(buffer, place("starts"), answered)[i] = i + 100;
  for (let n = 0; n <= window; n++) {
    new Uint32Array(buffer, place("lower"), window + 1)[n] = Math.floor(Math.max(0, n - 1) / 2);
    new Float64Array(buffer, place("weight"), window + 1)[n] = n > 0 && n % 2 === 0 ? 0.5 : 0;
  }
  const before = Buffer.from(memory);
  const [rank, slide] = wide ? [wasm.rollingRank64, wasm.rollingSlide64] : [wasm.rollingRank32, wasm.rollingSlide32];
  const [values, pairs, scratch, ranks] = [place("values"), place("pairs"), place("scratch"), place("ranks")];
  rank(values, count, pairs, scratch, place("histograms"), ranks);
  const [starts, lower, weight] = [place("starts"), place("lower"), place("weight")];
  slide(values, ranks, pairs, warm, count, starts, 100, lower, weight, 0, place("bits"), scratch);
  const written = new Uint8Array(memory);
  for (const name of ["pairs", "scratch", "histograms", "ranks", "bits"])
    written.set(before.subarray(place(name), place(name) + at[name]!.bytes), place(name));
  expect(before.equals(written), `wide=${wide} n=${count} window=${window}`).toBe(true);
}

test.each([
  ["simd", simdBase64],
  ["scalar", scalarBase64],
])("%s writes nothing outside its regions", (_target, base64) => {
  const wasm = instantiate(bytesOf(base64));
  wasm.memory.grow(64);
  for (const shape of ["lognormal", "special", "equal", "sorted", "reversed", "outlier"])
    for (const n of [1, 2, 3, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097, 33_000])
      for (const window of [1, 2, 64, 1000])
        for (const wide of [false, true]) checkGuards(wasm, wide, SHAPES[shape]!(n, randomOf(n)), window);
});
