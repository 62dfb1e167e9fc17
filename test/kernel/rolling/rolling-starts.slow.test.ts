// Where windows begin: every form against the definition, whatever the times and however many are looked at together.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Kernel, Times, Windows } from "../../../src/engine/kernel/contract.ts";
import { bytesOf, instantiate } from "../../../src/engine/kernel/wasm/wasm-exports.ts";
import { wasmBase64 as scalarBase64 } from "../../../src/generated/kernels.scalar.ts";
import { wasmBase64 as simdBase64 } from "../../../src/generated/kernels.simd.ts";
import { BUILDS } from "../builds.ts";
import { randomOf } from "../columns.ts";

interface Scanned {
  /** Of the events before the first wrong one. */
  starts: number[];
  fewest: number;
  most: number;
  wrong: number;
}

/** The definition, in the arithmetic of the times. */
function byDefinition({ times, spanMs, both }: Windows): Scanned {
  const exact: (number | bigint)[] = [...times];
  const isWrong = (t: number | bigint, i: number) =>
    (i > 0 && t < exact[i - 1]!) || (typeof t === "number" && !Number.isFinite(t));
  const at = exact.findIndex(isWrong);
  const wrong = at < 0 ? exact.length : at;
  const starts = exact.slice(0, wrong).map((now, i) => {
    const cutoff = typeof now === "bigint" ? now - BigInt(spanMs) : now - spanMs;
    const start = exact.findIndex((t) => (both ? t >= cutoff : t > cutoff));
    return start < 0 ? i : Math.min(start, i);
  });
  const counts = starts.map((start, i) => i + 1 - start);
  return { starts, fewest: Math.min(...counts), most: Math.max(...counts), wrong };
}

/** `step` events after the other, as pieces do. */
function scanned(kernel: Kernel, windows: Windows, step: number): Scanned {
  const { length } = windows.times;
  const scan = { start: 0, fewest: length, most: 0 };
  const starts: number[] = [];
  for (let from = 0; from < length; from += step) {
    const to = Math.min(length, from + step);
    const out = new Uint32Array(to - from);
    const wrong = kernel.starts(windows, from, to, scan, out);
    if (wrong < to) return { starts, fewest: scan.fewest, most: scan.most, wrong };
    starts.push(...out);
  }
  return { starts, fewest: scan.fewest, most: scan.most, wrong: length };
}

const stepOf: Record<string, (random: () => number) => number> = {
  even: () => 1,
  ties: (random) => Math.floor(3 * random()),
  bursts: (random) => (random() < 0.03 ? 400 : random() < 0.9 ? 0 : 1),
  sparse: (random) => 50 + Math.floor(200 * random()),
  once: (random) => (random() < 0.02 ? 2 ** 40 : 0),
};

const scenario = fc.record({
  n: fc.integer({ min: 1, max: 200 }),
  seed: fc.nat(),
  pace: fc.constantFrom(...Object.keys(stepOf)),
  from: fc.constantFrom(0, -50, 1_700_000_000_000, -(2 ** 52), 2 ** 61),
  fraction: fc.constantFrom(0, 0.1),
  spanMs: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5000 }), fc.constant(2 ** 53 - 1)),
  both: fc.boolean(),
  step: fc.constantFrom(1, 2, 7, 64, 4096),
  wrongAt: fc.option(fc.nat(250)),
  wrongBy: fc.constantFrom(1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
});

test("all kernels find the start of each window and the first invalid time, in steps of any size", () => {
  fc.assert(
    fc.property(scenario, ({ n, seed, pace, from, fraction, spanMs, both, step, wrongAt, wrongBy }) => {
      const random = randomOf(seed);
      let now = from;
      const f64 = Float64Array.from({ length: n }, () => {
        now += stepOf[pace]!(random) * (1 - fraction);
        return now;
      });
      const i64 = BigInt64Array.from(f64, (t) => BigInt(Math.floor(t)));
      if (wrongAt !== null && wrongAt > 0 && wrongAt < n) {
        f64[wrongAt]! -= wrongBy;
        i64[wrongAt]! -= 1n;
      }
      for (const times of [f64, i64] as Times[]) {
        const windows = { times, spanMs, both };
        const right = byDefinition(windows);
        for (const build of BUILDS) {
          const answer = scanned(build, windows, step);
          expect(answer.wrong, build.name).toBe(right.wrong);
          expect(answer.starts, build.name).toEqual(right.starts.slice(0, answer.starts.length));
          if (right.wrong === n) expect(answer, build.name).toEqual(right);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["simd", simdBase64],
  ["scalar", scalarBase64],
])("%s writes only starts and its tally", (_target, base64) => {
  const wasm = instantiate(bytesOf(base64));
  wasm.memory.grow(1);
  const base = Math.ceil((wasm.heapBase() >>> 0) / 64) * 64;
  for (const [call, Type] of [
    [wasm.startsF64, Float64Array],
    [wasm.startsI64, BigInt64Array],
  ] as const)
    for (const count of [1, 2, 63, 500]) {
      const [lead, trail, out, tally] = [base + 64, base + 8192, base + 16_384, base + 24_576];
      const memory = new Uint8Array(wasm.memory.buffer);
      memory.fill(0xa5, base);
      const times = Float64Array.from({ length: count }, (_, i) => i);
      for (const at of [lead, trail])
        if (Type === Float64Array) new Float64Array(wasm.memory.buffer, at, count).set(times);
        else new BigInt64Array(wasm.memory.buffer, at, count).set(BigInt64Array.from(times, BigInt));
      new Uint32Array(wasm.memory.buffer, tally, 4).set([0, 0, count, 0]);
      const before = Buffer.from(memory);
      call(lead, count, 0, trail, count, 10, false, out, tally);
      const written = Buffer.from(memory);
      expect([...new Uint32Array(wasm.memory.buffer, tally, 4)]).toEqual([
        count,
        Math.max(0, count - 10),
        1,
        Math.min(count, 10),
      ]);
      before.copy(written, out, out, out + 4 * count);
      before.copy(written, tally, tally, tally + 16);
      expect(before.equals(written)).toBe(true);
    }
});
