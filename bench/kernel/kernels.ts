import { Bench } from "tinybench";
import type { Kernel } from "../../src/engine/kernel/contract.ts";
import { js } from "../../src/engine/kernel/js/js.ts";
import { wasmScalar } from "../../src/engine/kernel/wasm/wasm-scalar.ts";
import { wasmSimd } from "../../src/engine/kernel/wasm/wasm-simd.ts";
import { latencies } from "../events.ts";
import type { Report, Row } from "../runner/report.ts";

export interface KernelsOptions {
  values: number;
  /** Shortest time of each line, and its least repetitions. */
  timeMs: number;
  iterations: number;
}

export const FULL_KERNELS: KernelsOptions = { values: 1_000_000, timeMs: 300, iterations: 10 };
export const SMALL_KERNELS: KernelsOptions = { values: 1_000, timeMs: 1, iterations: 2 };

/** One computation by one form; answers one number, which all forms must agree on. */
interface Line {
  computation: string;
  form: string;
  run(): number;
}

/** The kernels on one column of f32 values in JavaScript's memory (copying into WASM counts), form by form. */
export async function benchKernels(options: KernelsOptions): Promise<Report> {
  const lines = computations(
    [js, wasmScalar, wasmSimd].map((form) => form.create()),
    options.values,
  );
  checkAgreement(lines);
  const bench = new Bench({ time: options.timeMs, iterations: options.iterations, warmupTime: options.timeMs / 3 });
  let checksum = 0;
  for (const [i, line] of lines.entries())
    bench.add(String(i), () => {
      checksum += line.run();
    });
  await bench.run();
  const medianUs = lines.map((_, i) => {
    const result = bench.getTask(String(i))?.result;
    if (result?.state !== "completed")
      throw new Error(`${lines[i]?.computation} by ${lines[i]?.form} did not complete`);
    return result.latency.p50 * 1000;
  });
  return {
    bench: "kernels",
    title: `Kernels on ${options.values.toLocaleString("en-US")} f32 values outside WASM memory`,
    rows: lines.map((line, i) => row(line, medianUs[i] as number, lines, medianUs)),
    notes: [
      "timesFaster: the time of the computation's first line (TypedArray.sort, or the JS form) over this line's.",
      `All forms gave the same results (checksum ${checksum}).`,
    ],
  };
}

function row(line: Line, medianUs: number, lines: Line[], all: number[]): Row {
  const first = lines.findIndex((other) => other.computation === line.computation);
  return { computation: line.computation, form: line.form, medianUs, timesFaster: (all[first] as number) / medianUs };
}

/** Lines by computation; the first of each is what the others are compared with. */
function computations(forms: Kernel[], count: number): Line[] {
  const values = latencies(count, 5);
  const times = BigInt64Array.from(values, (_, i) => BigInt(i));
  const shuffled = BigInt64Array.from(latencies(count, 6), (value) => BigInt(Math.round(value * 8)));
  const middle = shuffled.slice().sort()[count >> 1] as bigint;
  const all: [string, (kernel: Kernel) => number][] = [
    ["p99", (kernel) => interpolate(count, (k) => kernel.select(values, k))],
    ["sum, moments, extrema", (kernel) => kernel.summary(values).sumHigh],
    ["sum, pairwise in f32", (kernel) => kernel.pairwiseSum(values)],
    ["sort", (kernel) => sorted(values, (copy) => kernel.sort(copy))],
    ["trim half, sorted times", (kernel) => trim(kernel, times, values, BigInt(count >> 1), true)],
    ["trim half, unsorted times", (kernel) => trim(kernel, shuffled, values, middle, false)],
  ];
  const baseline: Line[] = [
    { computation: "p99", form: "TypedArray.sort", run: () => sortedP99(values) },
    { computation: "sort", form: "TypedArray.sort", run: () => sorted(values, (copy) => copy.sort()) },
  ];
  return all.flatMap(([computation, run]) => [
    ...baseline.filter((line) => line.computation === computation),
    ...forms.map((kernel) => ({ computation, form: kernel.name, run: () => run(kernel) })),
  ]);
}

function checkAgreement(lines: Line[]): void {
  const expected = new Map<string, number>();
  for (const { computation, form, run } of lines) {
    const result = run();
    if (result !== (expected.get(computation) ?? result))
      throw new Error(`${computation} by ${form} gave ${result}; others gave ${expected.get(computation)}`);
    expected.set(computation, result);
  }
}

function interpolate(count: number, select: (k: number) => [number, number]): number {
  const rank = 0.99 * (count - 1);
  const [below, above] = select(Math.floor(rank));
  return below + (above - below) * (rank - Math.floor(rank));
}

function sortedP99(values: Float32Array): number {
  const copy = values.slice().sort();
  return interpolate(copy.length, (k) => [copy[k] as number, copy[Math.min(k + 1, copy.length - 1)] as number]);
}

function sorted(values: Float32Array, sort: (copy: Float32Array) => void): number {
  const copy = values.slice();
  sort(copy);
  return copy[copy.length >> 1] as number;
}

function trim(kernel: Kernel, times: BigInt64Array, values: Float32Array, from: bigint, isSorted: boolean): number {
  const inside = kernel.trim(times, values, from, 2n ** 62n, false, isSorted);
  return inside.values.length + (inside.values.at(-1) ?? 0);
}
