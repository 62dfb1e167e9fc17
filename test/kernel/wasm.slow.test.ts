// The modules themselves: exports, imports, reproducible bytes, and no byte written outside the given regions.
import { readFileSync } from "node:fs";
import asc from "assemblyscript/asc";
import { describe, expect, test } from "vitest";
import { moduleRuns } from "../../src/engine/kernel/module-kernel.ts";
import { wasmKernel } from "../../src/engine/kernel/wasm/wasm.ts";
import { bytesOf, instantiate, type WasmExports } from "../../src/engine/kernel/wasm/wasm-exports.ts";
import { wasmBase64 as scalarBase64 } from "../../src/generated/kernels.scalar.ts";
import { wasmBase64 as simdBase64 } from "../../src/generated/kernels.simd.ts";
import { uniformOf } from "../stats/random.ts";

const MODULES = { simd: simdBase64, scalar: scalarBase64 };

/** Named by the type of times. */
const OF_TIMES = { startsF64: 9, startsI64: 9 };

/** For f32 values, or for their keys. */
const OF_KEYS = { waveletKeys32: 2, waveletLevel: 4, waveletSelect: 8 };

const ARITY = {
  heapBase: 0,
  vectorBytes: 0,
  fold: 5,
  mask: 5,
  census: 3,
  pairwiseSum: 2,
  deviations: 4,
  rollingRank: 6,
  rollingSlide: 12,
  sort: 4,
  collect: 6,
  sample: 5,
  narrow: 7,
  rank: 4,
  trim: 4,
};

describe.each(Object.entries(MODULES))("%s", (target, base64) => {
  test("has exactly the listed exports, with their arity", () => {
    const exports = instantiate(bytesOf(base64));
    const functions = Object.entries(exports).filter(([, value]) => typeof value === "function");
    const expected = Object.entries(ARITY).flatMap(([name, arity]) =>
      name === "heapBase" || name === "vectorBytes"
        ? [[name, arity]]
        : [
            [`${name}32`, arity],
            [`${name}64`, arity],
          ],
    );
    expected.push(...Object.entries(OF_TIMES), ...Object.entries(OF_KEYS));
    expect(Object.fromEntries(functions.map(([name, value]) => [name, value.length]))).toEqual(
      Object.fromEntries(expected),
    );
    expect(Object.keys(exports).length).toBe(expected.length + 1);
  });

  test("has the same bytes when built again", async () => {
    let again = new Uint8Array();
    const { error } = await asc.main(["--config", "asconfig.json", "--target", target], {
      readFile: (name) => {
        try {
          return readFileSync(name, "utf8");
        } catch {
          return null;
        }
      },
      writeFile: (name, contents) => {
        if (name.endsWith(".wasm")) again = contents as Uint8Array<ArrayBuffer>;
      },
      listFiles: () => null,
    });
    expect(error).toBeNull();
    expect(Buffer.from(again).toString("base64")).toBe(base64);
  });

  test("writes nothing outside its regions", () => {
    const wasm = instantiate(bytesOf(base64));
    wasm.memory.grow(4);
    for (const wide of [false, true])
      for (const count of [0, 1, 2, 3, 5, 7, 8, 9, 31, 32, 33, 70, 129, 1537, 2049])
        for (const call of callsOf(wasm, wide)) checkGuards(wasm, wide, count, call);
  });
});

test("the module for sorted runs has no other loops, and gives the bits of the kernel", () => {
  const bytes = readFileSync("dist/runs.simd.wasm");
  const names = ["fold32", "fold64", "heapBase", "memory", "sort32", "sort64"];
  expect(Object.keys(instantiate(bytes)).sort()).toEqual(names);
  const runs = moduleRuns("wasm-simd", bytes).create();
  const whole = wasmKernel("wasm-simd", instantiate(bytesOf(simdBase64)));
  const u = uniformOf(7);
  for (const Type of [Float32Array, Float64Array])
    for (const count of [0, 1, 31, 4096, 4097, 70_000, 2_100_000]) {
      const special = () => [u() - 0.5, -0, 0, Number.NaN, 1 / 0, u() * 1e9][Math.floor(u() * 6)]!;
      const values = new Type(Array.from({ length: count }, special));
      const copy = values.slice();
      expect(runs.summary(values)).toEqual(whole.summary(values));
      runs.sort(values);
      whole.sort(copy);
      expect(Buffer.compare(Buffer.from(values.buffer), Buffer.from(copy.buffer))).toBe(0);
    }
});

test("memory grows to the size of a column, up to its bound", () => {
  const wasm = instantiate(bytesOf(simdBase64));
  const kernel = wasmKernel("wasm-simd", wasm, 4 << 20);
  const ones = new Float64Array(200_000).fill(1);
  expect(kernel.summary(ones).sumHigh).toBe(200_000);
  expect(kernel.select(ones, 5)).toEqual([1, 1]);
  expect(wasm.memory.buffer.byteLength).toBeLessThanOrEqual(4 << 20);
  expect(() => kernel.summary(new Float64Array(600_000))).toThrow(
    expect.objectContaining({ code: "TOO_LARGE", message: expect.stringContaining("the bound is 4194304 bytes") }),
  );
  expect(kernel.summary(ones.subarray(3)).sumHigh).toBe(199_997);
});

test("base64 is decoded equally with and without Buffer", () => {
  const known = bytesOf(simdBase64);
  const { Buffer: kept } = globalThis;
  try {
    Reflect.deleteProperty(globalThis, "Buffer");
    expect(bytesOf(simdBase64)).toEqual(new Uint8Array(known));
  } finally {
    globalThis.Buffer = kept;
  }
});

/** Where a call gets its regions: `control` 256 bytes, `histogram` 49152, `first` and `second` a column each, `times`. */
interface Places {
  control: number;
  histogram: number;
  first: number;
  second: number;
  times: number;
}

interface Call {
  name: string;
  run: (at: Places, count: number) => void;
  /** Regions it may write, with the bytes it may write past the column. */
  writes: (keyof Places)[];
  slack?: number;
}

function callsOf(wasm: WasmExports, wide: boolean): Call[] {
  const of = <N extends keyof typeof ARITY>(name: N) =>
    wasm[`${name}${wide ? 64 : 32}` as keyof WasmExports] as unknown as (...args: number[]) => number;
  return [
    {
      name: "fold",
      run: (at, n) => of("fold")(at.first, n, 2, at.histogram, at.control),
      writes: ["control", "histogram"],
    },
    { name: "mask", run: (at, n) => of("mask")(at.times, at.first, n, at.control, at.first), writes: ["first"] },
    { name: "census", run: (at, n) => of("census")(at.first, n, at.control), writes: ["control"] },
    { name: "pairwiseSum", run: (at, n) => of("pairwiseSum")(at.first, n), writes: [] },
    { name: "deviations", run: (at, n) => of("deviations")(at.first, n, 2, at.second), writes: ["second"] },
    {
      name: "sort",
      run: (at, n) => of("sort")(at.first, n, at.second, at.histogram),
      writes: ["first", "second", "histogram"],
    },
    {
      name: "collect",
      run: (at, n) => of("collect")(at.first, n, -1e9, 1e9, at.second, at.control),
      writes: ["second", "control"],
    },
    {
      name: "sample",
      run: (at, n) => (n === 0 ? undefined : of("sample")(at.first, n, 1, Math.min(n, 40), at.second)),
      writes: ["second"],
    },
    {
      name: "narrow",
      run: (at, n) => (n === 0 ? undefined : of("narrow")(at.first, n, n >> 1, -15, 15, at.histogram, at.control)),
      writes: ["histogram", "control"],
    },
    { name: "rank", run: (at, n) => of("rank")(at.first, n, 3, at.control), writes: ["control"] },
    {
      name: "trim",
      run: (at, n) => of("trim")(at.times, at.first, n, at.control),
      writes: ["times", "first"],
    },
  ];
}

function checkGuards(wasm: WasmExports, wide: boolean, count: number, { name, run, writes, slack = 0 }: Call): void {
  const size = wide ? 8 : 4;
  const base = Math.ceil((wasm.heapBase() >>> 0) / 64) * 64;
  const step = 128 + Math.ceil((count * 8) / 64) * 64;
  const first = base + 64 + 256 + 64 + 49_152 + 64;
  const at = { control: base + 64, histogram: base + 384, first, second: first + step, times: first + 2 * step };
  const bytes = new Uint8Array(wasm.memory.buffer);
  bytes.fill(0xa5, base);
  const values = Float64Array.from({ length: count }, (_, i) => ((i * 7) % 31) - 15);
  if (wide) new Float64Array(bytes.buffer, at.first, count).set(values);
  else new Float32Array(bytes.buffer, at.first, count).set(values);
  const before = Buffer.from(bytes);
  run(at, count);
  const sizes = {
    control: 256,
    histogram: 49_152,
    first: count * size,
    second: count * size + slack,
    times: count * 8,
  };
  const written = new Uint8Array(bytes);
  for (const region of writes) written.set(before.subarray(at[region], at[region] + sizes[region]), at[region]);
  // Below `base` lie the module's own tables.
  expect(before.subarray(base).equals(written.subarray(base)), `${name} wide=${wide} n=${count}`).toBe(true);
}
