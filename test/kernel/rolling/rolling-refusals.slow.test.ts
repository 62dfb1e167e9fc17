// Invalid input of rollingPercentile is refused, naming argument, value and bound.
import { expect, test } from "vitest";
import { rollingPercentile } from "../../../src/entries/kernel.ts";

test("invalid input is refused with a clear error", () => {
  const [times, values] = [Float64Array.of(1, 2, 3), Float32Array.of(1, 2, 3)];
  const roll =
    (t: unknown, v: unknown = values, more: object = {}) =>
    () =>
      rollingPercentile(t as typeof times, v as typeof values, { span: 10, percentiles: [50], ...more });
  const refused: [() => unknown, string, string][] = [
    [roll(Float64Array.of(1, 3, 2)), "ARGUMENT", "times[2] is 2; it must be at least 3 ms"],
    [roll(BigInt64Array.of(1n, 1n, 0n)), "ARGUMENT", "times[2] is 0n; it must be at least 1 ms"],
    [roll(BigInt64Array.of(2n ** 63n - 1n, -(2n ** 63n), 0n)), "ARGUMENT", "times[1] is -9223372036854775808n"],
    [roll(Float64Array.of(Number.NaN, 3, 2)), "ARGUMENT", "times[0] is NaN; it must be a finite number of ms"],
    [
      roll(Float64Array.of(1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)),
      "ARGUMENT",
      "times[1] is Infinity; it must be a finite number",
    ],
    [
      roll(BigInt64Array.of(0n, 1n, 2n ** 53n)),
      "ARGUMENT",
      "times[2] is 9007199254740992n; it must be at most 2^53 - 1 ms",
    ],
    [roll(times.subarray(1)), "ARGUMENT", "values.length is 3; it must be 2, the number of times"],
    [roll(new Uint8Array(12)), "CORRUPT", "times ends in the middle of a value: 4 of 8 bytes at offset 8"],
    [roll(times, new Uint8Array(11)), "CORRUPT", "values ends in the middle of a value: 3 of 4 bytes at offset 8"],
    [roll([1, 2, 3]), "ARGUMENT", "times is an array"],
    [roll(times, values, { type: "f64" }), "ARGUMENT", 'type is "f64"'],
    [roll(times, values, { span: 0 }), "ARGUMENT", "span is 0"],
    [roll(times, values, { span: "soon" }), "ARGUMENT", 'span is "soon"'],
    [roll(times, values, { percentiles: [101] }), "ARGUMENT", "percentile is 101; it must be from 0 to 100"],
    [roll(times, values, { percentiles: 50 }), "ARGUMENT", "percentiles is 50; it must be a list"],
    [roll(times, values, { method: "best" }), "ARGUMENT", "one of inverted_cdf"],
    [roll(times, values, { closed: "left" }), "ARGUMENT", 'closed is "left"'],
    [roll(times, values, { nan: "drop" }), "ARGUMENT", 'nan is "drop"'],
  ];
  for (const [call, code, message] of refused)
    expect(call).toThrow(
      expect.objectContaining({ name: "OrielError", code, message: expect.stringContaining(message) }),
    );
});
