// Arguments that no caller means: every one is answered or refused with an OrielError, and none disturbs the next call.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { LocalSeries } from "../../../src/engine/stats/local-series.ts";
import { forceKernel, kernel, rollingPercentile } from "../../../src/entries/kernel.ts";
import { BUILDS } from "../builds.ts";

/** An array whose buffer went to somebody else. */
function detached<T extends ArrayBufferView<ArrayBuffer>>(view: T): T {
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}

const VALUES: unknown[] = [
  new Float32Array(0),
  new Float32Array([1, 2, 3]),
  new Float64Array([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]),
  new Float32Array(new SharedArrayBuffer(12)),
  new Uint8Array(12),
  new Uint8Array(5),
  new Uint8Array(new ArrayBuffer(64), 1, 12),
  detached(new Float32Array(3)),
  detached(new Float64Array(3)),
  detached(new Uint8Array(12)),
  [1, 2, 3],
  "x",
  null,
  undefined,
  new Date(),
  Symbol("x"),
  5n,
];
const TIMES: unknown[] = [
  new BigInt64Array([2n ** 63n - 1n, -(2n ** 63n), 0n]),
  new Float64Array([Number.NaN, Number.POSITIVE_INFINITY, 0]),
  new Uint8Array(24),
  new Uint8Array(7),
  detached(new BigInt64Array(3)),
  detached(new Uint8Array(24)),
  [1, 2, 3],
  null,
];
const NUMBERS: unknown[] = [Number.NaN, -1, -0, 0, 50, 101, 2 ** 53, 1e308, "50", null, undefined, 5n, {}, Symbol("x")];

function expectOrielError(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(OrielError);
  }
}

describe.each(BUILDS.map(({ name }) => name))("%s", (name) => {
  beforeAll(() => forceKernel(name));
  afterAll(() => forceKernel(null));

  test("every odd column, time and number is answered, or refused by name", () => {
    const odd = (value: unknown) => value as never;
    for (const values of VALUES) {
      for (const times of TIMES) {
        expectOrielError(() => kernel.stats(odd(times), odd(values), 0));
        expectOrielError(() => kernel.trim(odd(times), odd(values), 0));
        expectOrielError(() => rollingPercentile(odd(times), odd(values), { span: 10, percentiles: [50] }));
      }
      for (const number of NUMBERS) {
        expectOrielError(() => kernel.percentile(odd(values), odd(number)));
        expectOrielError(() => kernel.sum(odd(values), { nan: odd(number) }));
        expectOrielError(() => kernel.moments(odd(values), { ddof: odd(number) }));
        expectOrielError(() => kernel.stats(odd(TIMES[2]), odd(values), odd(number)));
      }
    }
    const values = Float32Array.from({ length: 1000 }, (_, i) => i);
    expect(kernel.percentile(values, 50)).toBe(499.5);
  });

  test("an array with a transferred buffer is refused", () => {
    const values = detached(new Float32Array(3));
    for (const call of [
      () => kernel.sum(values),
      () => kernel.percentile(values, 50),
      () => kernel.trim(new BigInt64Array(0), values, 0),
      () => kernel.stats(new BigInt64Array(0), values, 0),
      () => kernel.stats(detached(new BigInt64Array(3)), new Float32Array(0), 0),
      () => rollingPercentile(detached(new Float64Array(3)), new Float32Array(0), { span: 1, percentiles: [50] }),
      () => new LocalSeries({}).recordMany(values),
      () => new LocalSeries({ values: "float64" }).recordMany(values),
    ])
      expect(call).toThrow(/an array whose buffer was not transferred/);
  });
});
