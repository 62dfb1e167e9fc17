import fc from "fast-check";
import { expect, test } from "vitest";
import { formatValue, unitNamed, unitOfName } from "../../../src/command/plot/axes/units.ts";
import { valueAxis } from "../../../src/command/plot/axes/value-axis.ts";

test.each([
  ["ms", 1200, "1.2 s"],
  ["ms", 350, "350 ms"],
  ["ms", 0.08, "80 µs"],
  ["ms", 999.9, "1 s"],
  ["ms", 90_000, "90 s"],
  ["ms", 150_000, "2.5 min"],
  ["ms", -1200, "-1.2 s"],
  ["s", 0.0021, "2.1 ms"],
  ["us", 1500, "1.5 ms"],
  ["ns", 12, "12 ns"],
  ["s", 200_000, "2.31 d"],
  ["bytes", 512, "512 B"],
  ["bytes", 1536, "1.5 KiB"],
  ["bytes", 5_242_880, "5 MiB"],
  ["none", 10_844, "10.8k"],
  ["none", 9999, "10k"],
  ["requests", 73, "73"],
  ["ms", 0, "0"],
  ["ms", Number.NaN, "-"],
  ["none", 2.5e-7, "2.5e-7"],
])("%s: %s is %s", (unit, value, text) => {
  expect(formatValue(value, unitNamed(unit))).toBe(text);
});

test.each([
  ["latency_ms", "ms"],
  ["latencyMs", "ms"],
  ["time (s)", "s"],
  ["request.size_bytes", "bytes"],
  ["bytes", "bytes"],
  ["duration", "ms"],
  ["wait_us", "us"],
  ["elapsed_seconds", "s"],
  ["value", undefined],
  ["items", undefined],
  ["status", undefined],
  ["", undefined],
])("the name %j says %s", (name, unit) => {
  expect(unitOfName(name)?.name).toBe(unit);
});

const SIZES: Record<string, number> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};
const TIMES: Record<string, number> = { ns: 1e-6, µs: 1e-3, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

test("each tick stands where the axis puts the number of its label, ascending, and all values are between both ends", () => {
  const value = fc.double({ min: 1e-3, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(value, fc.constant(0)), { minLength: 1, maxLength: 20 }),
      fc.constantFrom("ms", "bytes", "none"),
      fc.constantFrom("auto" as const, "log" as const, "linear" as const),
      fc.constantFrom(150, 320),
      (values, name, choice, bottomPx) => {
        const axis = valueAxis(values, unitNamed(name), choice, [bottomPx, 0]);
        expect(axis.ticks.length).toBeGreaterThanOrEqual(2);
        for (const { y, label } of axis.ticks) {
          const [, number = "", unit = ""] = /^([\d.,e-]+) ?(.*)$/.exec(label) ?? [];
          const shown =
            Number(number.replaceAll(",", "")) * ((name === "ms" && unit ? TIMES : SIZES)[unit] ?? Number.NaN);
          expect(Math.abs(axis.yOf(shown) - y), `${label} of ${values}`).toBeLessThan(0.01);
        }
        const ys = axis.ticks.map(({ y }) => y);
        expect(ys).toEqual([...ys].sort((a, b) => b - a));
        for (const each of values) {
          expect(axis.yOf(each)).toBeGreaterThanOrEqual(-0.01);
          expect(axis.yOf(each)).toBeLessThanOrEqual(bottomPx + 0.01);
        }
      },
    ),
    {
      examples: [
        [[0.001], "ms", "log", 150],
        [[999999999.9999988, 999999999.9999982], "bytes", "auto", 150],
      ],
    },
  );
});
