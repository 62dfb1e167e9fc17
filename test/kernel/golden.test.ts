// NumPy's golden file: 184 columns, reductions and percentiles as bit patterns, in every build.
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { kernel } from "../../src/engine/kernel/api.ts";
import { forceKernel, provideKernels } from "../../src/engine/kernel/choose.ts";
import { js } from "../../src/engine/kernel/js/js.ts";
import type { PercentileMethod } from "../../src/engine/kernel/percentile/percentile.ts";
import { wasmScalar } from "../../src/engine/kernel/wasm/wasm-scalar.ts";
import { wasmSimd } from "../../src/engine/kernel/wasm/wasm-simd.ts";
import { NUMPY_GOLDEN } from "../data/folders.ts";
import { exactMoments } from "./oracle.ts";

interface Case {
  kind: "u24" | "ties" | "wide" | "offset";
  n: number;
  seed: number;
  dtype: "f4" | "f8";
  sum: string;
  mean: string;
  var0: string;
  std0: string;
  std1: string;
  min: string;
  max: string;
  fsum: string;
  pct?: Record<PercentileMethod, string[]>;
  pct_linear_arrayq_f8?: string[];
}

const KINDS: Record<Case["kind"], (x: number) => number> = {
  u24: (x) => (x >>> 8) / 2 ** 24,
  ties: (x) => (x >>> 24) % 17,
  wide: (x) => (((x >>> 9) & 0x7fffff) | 1) * 2 ** ((x & 63) - 40) * (x & 64 ? -1 : 1),
  offset: (x) => 1e6 + ((x >>> 12) & 15) * 0.125,
};

function columnOf({ kind, n, seed, dtype }: Case): Float32Array | Float64Array {
  let x = seed;
  const values = Array.from({ length: n }, () => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    return KINDS[kind](x);
  });
  return dtype === "f4" ? Float32Array.from(values) : Float64Array.from(values);
}

const view = new DataView(new ArrayBuffer(8));

function hex(x: number, width: 8 | 16): string {
  if (Number.isNaN(x)) return "nan";
  if (width === 8) view.setFloat32(0, x);
  else view.setFloat64(0, x);
  return (width === 8 ? BigInt(view.getUint32(0)) : view.getBigUint64(0)).toString(16).padStart(width, "0");
}

const golden: { q: number[]; cases: Case[] } = JSON.parse(readFileSync(NUMPY_GOLDEN, "utf8"));

provideKernels([wasmSimd, wasmScalar, js]);
afterAll(() => forceKernel(null));

describe.each([wasmSimd.name, wasmScalar.name, js.name])("golden file, %s", (name) => {
  test("has its 184 cases", () => expect(golden.cases).toHaveLength(184));

  test("has the same reductions", () => {
    forceKernel(name);
    const compat = "numpy";
    for (const known of golden.cases) {
      const where = `${known.kind} n=${known.n} ${known.dtype}`;
      const values = columnOf(known);
      const width = known.dtype === "f4" ? 8 : 16;
      const { mean, variance, std, min, max } = kernel.moments(values, { compat });
      expect(hex(kernel.sum(values, { compat }), width), where).toBe(known.sum);
      expect(
        [mean, variance, std, min, max].map((x) => hex(x, width)),
        where,
      ).toStrictEqual([known.mean, known.var0, known.std0, known.min, known.max]);
      expect(hex(kernel.moments(values, { compat, ddof: 1 }).std, width), where).toBe(known.std1);
      // The default sum is rounded once: equal to the exact one.
      expect(hex(kernel.sum(values), 16), where).toBe(known.fsum);
      expect(hex(exactMoments(values).sum, 16), where).toBe(known.fsum);
    }
  });

  test("has the same percentiles by 13 methods, one by one and as a list", () => {
    forceKernel(name);
    for (const known of golden.cases) {
      const where = `${known.kind} n=${known.n} ${known.dtype}`;
      const values = columnOf(known);
      const width = known.dtype === "f4" ? 8 : 16;
      for (const [method, expected] of Object.entries(known.pct ?? {}) as [PercentileMethod, string[]][]) {
        const got = golden.q.map((q) => hex(kernel.percentile(values, q, { method, compat: "numpy" }), width));
        expect(got, `${where} ${method}`).toStrictEqual(expected);
      }
      if (known.pct_linear_arrayq_f8) {
        const got = kernel.percentile(values, golden.q, { compat: "numpy" }).map((x) => hex(x, 16));
        expect(got, where).toStrictEqual(known.pct_linear_arrayq_f8);
      }
    }
  });
});
