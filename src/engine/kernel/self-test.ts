import type { Column, Kernel, RunKernel } from "./contract.ts";

/**
 * Runs a kernel on columns whose results are known from arithmetic, not from another kernel. Throws an Error that names
 * the first wrong result. Cost: about 100 microseconds.
 */
export function selfTest(kernel: Kernel): void {
  testRuns(kernel);
  for (const Type of [Float32Array, Float64Array]) {
    const column: Column = new Type(unsorted());
    expect("pairwiseSum", kernel.pairwiseSum(column), 0);
    expect("pairwiseSquares", kernel.pairwiseSquares(column, 0), 25058);
    expect("select", kernel.select(column, 10).join(), "-23,-22");
    const { below, equal } = kernel.rank(column, -23);
    expect("rank", `${below},${equal}`, "10,1");
    const times = BigInt64Array.from(column, (x) => BigInt(x));
    const inside = kernel.trim(times, column, -3n, 2n, false, false);
    expect("trim", [...inside.times].sort(ascending).join(), "-2,-1,0,1,2");
    expect("trim", [...inside.values].sort(ascending).join(), "-2,-1,0,1,2");
    // Above 2048 values, selection uses a sample. The column is each of 0 ... 2999 once.
    const many: Column = new Type(Float64Array.from({ length: 3000 }, (_, i) => (i * 7) % 3000));
    expect("select", kernel.select(many, 2970).join(), "2970,2971");
    expect("select", String(kernel.selectMany(many, [1500, 0])), "1500,1501,0,1");
    rolling(kernel, column);
  }
}

/** The same for what sorted runs need. */
export function testRuns(kernel: RunKernel): void {
  for (const Type of [Float32Array, Float64Array]) {
    const column: Column = new Type(unsorted());
    const summary = kernel.summary(column);
    expect("sum", summary.sumHigh + summary.sumLow, 0);
    expect("m2", summary.m2, 25058);
    expect("min", summary.min, -33);
    expect("max", summary.max, 33);
    specials(kernel, new Type([Number.NaN, 1, -0, Number.POSITIVE_INFINITY, 0, -1, Number.NEGATIVE_INFINITY]));
    kernel.sort(column);
    expect("sort", [...column].join(), [...unsorted()].sort(ascending).join());
  }
}

/** 0, 7, 14 ... modulo 67 is each of 0 ... 66 once, unsorted. Minus 33, the sum is 0 and m2 is 67 * 374. */
function unsorted(): Float64Array {
  return Float64Array.from({ length: 67 }, (_, i) => ((i * 7) % 67) - 33);
}

/** One value per ms, in windows of 3. The result is halfway between the second and the third. */
function rolling(kernel: Kernel, values: Column): void {
  const times = Float64Array.from(values, (_, i) => i);
  const starts = new Uint32Array(values.length - 2);
  const scan = { start: 0, fewest: values.length, most: 0 };
  const windows = { times, spanMs: 3, both: false };
  expect("starts", kernel.starts(windows, 0, 2, scan, starts), 2);
  expect("starts", kernel.starts(windows, 2, values.length, scan, starts), values.length);
  expect("starts", [starts[0], starts.at(-1), scan.fewest, scan.most].join(), "0,64,1,3");
  const out = new Float64Array(starts.length);
  const table = { lower: Uint32Array.of(1), weight: Float64Array.of(0.5) };
  kernel.roll({ values, base: 0, starts, minCount: 3 }, [table], [out]);
  expect("roll", [out[0], out[1], out.at(-1)].join(), "-22.5,-15.5,23.5");
}

function specials(kernel: RunKernel, column: Column): void {
  const { nanCount, positiveInfinityCount, negativeInfinityCount, sumHigh, m2 } = kernel.summary(column);
  expect("counts", [nanCount, positiveInfinityCount, negativeInfinityCount, sumHigh, m2].join(), "1,1,1,0,2");
  kernel.sort(column);
  const order = [...column].map((x) => (Object.is(x, -0) ? "-0" : String(x)));
  expect("sort", order.join(), "-Infinity,-1,-0,0,1,Infinity,NaN");
}

function ascending(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : 1;
}

function expect(what: string, answer: number | string, known: number | string): void {
  if (answer !== known) throw new Error(`${what} returned ${answer} instead of ${known}`);
}
