import fc from "fast-check";
import { expect, test } from "vitest";
import { unitNamed } from "../../../src/command/plot/axes/units.ts";
import { drawPicture } from "../../../src/command/plot/drawing/picture.ts";
import type { PictureSpec } from "../../../src/command/plot/drawing/picture-spec.ts";
import { pngOf } from "../../../src/command/plot/picture-file.ts";
import { PlotPoints } from "../../../src/command/plot/plot-points.ts";
import type { Row } from "../../../src/command/row.ts";
import { expectReadable, expectWellFormed, pathPoints } from "./svg.ts";

const START_MS = Date.UTC(2026, 2, 14, 15, 9);
const MINUTE_MS = 60_000;

function row(n: number, values: readonly number[], key: string | null = null, count = 5): Row {
  const [mean = Number.NaN, ...percentiles] = values;
  const none = { sum: 0, min: 0, max: 0, std: 0, degraded: false };
  return { endMs: START_MS + n * MINUTE_MS, key, count, mean, percentiles, ...none };
}

function specOf(rows: readonly Row[], changes: Partial<PictureSpec> = {}): PictureSpec {
  const points = new PlotPoints();
  points.add(rows);
  return {
    title: "probe: latency_ms",
    valueName: "latency_ms",
    unit: unitNamed("ms"),
    scale: "auto",
    percentiles: [50, 99],
    spanMs: MINUTE_MS,
    everyMs: MINUTE_MS,
    ...points.busiest(12),
    guesses: [],
    ...changes,
  };
}

const draw = (spec: PictureSpec, widthPx = 1200, hasReadouts = false) =>
  drawPicture(spec, { widthPx, hasReadouts, id: "picture" });

const amount = fc.oneof(
  fc.constant(0),
  fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
  fc.double({ min: -100, max: 100, noNaN: true }),
  fc.double({ noDefaultInfinity: true }), // of any size, NaN too
);
const key = fc.oneof(fc.string({ unit: "grapheme", maxLength: 80 }), fc.constantFrom("2xx", "W".repeat(60), '"><&'));

test("whatever is drawn, at any width: well-formed, no text over another, and none outside", () => {
  const pictures = fc.record({
    keys: fc.uniqueArray(key, { minLength: 1, maxLength: 6 }),
    levels: fc.array(fc.tuple(amount, amount, amount, amount), { minLength: 1, maxLength: 30 }),
    gaps: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 3 }),
    unit: fc.constantFrom("ms", "bytes", "s", "none", "requests"),
    scale: fc.constantFrom("auto" as const, "log" as const, "linear" as const),
    title: fc.string({ unit: "grapheme", maxLength: 90 }),
    widthPx: fc.constantFrom(320, 360, 640, 1200),
    count: fc.integer({ min: 0, max: 1e9 }),
  });
  fc.assert(
    fc.property(pictures, ({ keys, levels, gaps, unit, scale, title, widthPx, count }) => {
      let n = 0;
      const rows = levels.flatMap((values, i) => {
        n += gaps[i % gaps.length] as number;
        return keys.map((name) => row(n, values, keys.length > 1 ? name : null, count));
      });
      const spec = specOf(rows, { unit: unitNamed(unit), scale, title, percentiles: [50, 90, 99] });
      const svg = draw(spec, widthPx);
      expectWellFormed(svg);
      expectReadable(svg);
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
      expectWellFormed(draw(spec, widthPx, true));
    }),
    { numRuns: 100 },
  );
});

test("a hostile title, key and name of values are parsed by a renderer, and do no harm", async () => {
  const hostile = '"><script>alert(1)</script>\u0000\ud800&amp;\u001b';
  const rows = [1, 2].flatMap((n) => [row(n, [1, 2, 3], hostile), row(n, [1, 2, 3], "b")]);
  const svg = draw(specOf(rows, { title: hostile, valueName: hostile }), 640, true);
  expect(svg).not.toContain("<script");
  expect((await pngOf(svg, 640)).length).toBeGreaterThan(2000);
});

test.each([
  ["largest", 1.6e30, "1e18 TiB"],
  ["smallest", 1.6e-294, "1e-294 B"],
])("the %s values have short numbers at a linear axis", (_what, value, label) => {
  const spec = specOf([row(1, [0, 0, value]), row(2, [0, 0, -value])], { unit: unitNamed("bytes"), scale: "linear" });
  const svg = draw(spec, 320);
  expectReadable(svg);
  expect(svg).toContain(`>${label}<`);
});

test.each([
  ["all positive and 100 apart", [1, 1, 100], true],
  ["less than 100 apart", [1, 1.01, 99], false],
  ["0 and positive ones 100 apart", [0, 1, 100], true],
  ["a negative value", [-1, 1, 1000], false],
  ["nothing but 0", [0, 0, 0], false],
  ["the least numbers above and below 0", [0, 5e-324, -5e-324], false],
])("auto, %s: logarithmic %s", (_what, values, isLog) => {
  const svg = draw(specOf([row(1, values), row(2, values)]));
  expect(svg.includes("latency_ms, logarithmic")).toBe(isLog);
});

test("a logarithmic axis has 0 at the bottom, and leaves out negative values and says so", () => {
  const rows = [row(1, [2, 0, 1000]), row(2, [2, -4, 1000]), row(3, [2, 1, 1000])];
  const svg = draw(specOf(rows, { scale: "log" }));
  const [, zeroY] = /class="quiet tick" x="[\d.]+" y="([\d.]+)"[^>]*>0</.exec(svg) as unknown as [string, string];
  const points = pathPoints(svg, "p50");
  expect(points.length).toBe(2);
  expect(points[0]?.[1]).toBe(Number(zeroY));
  expect(points[1]?.[1]).toBeLessThan(Number(zeroY) - 20);
  expect(svg).toContain("in 1 window, values below 0 are not on the logarithmic axis");
});

test.each([
  ["no window", []],
  ["one window", [row(1, [5, 4, 9])]],
  ["a constant", [1, 2, 3].map((n) => row(n, [5, 5, 5]))],
  ["windows without events", [1, 2, 3].map((n) => row(n, [Number.NaN, Number.NaN, Number.NaN], null, 0))],
])("%s is a picture, too", async (_what, rows) => {
  for (const widthPx of [360, 1200]) {
    const svg = draw(specOf(rows), widthPx);
    expectWellFormed(svg);
    expect(svg).not.toMatch(/NaN|Infinity/);
    if (rows.length === 0) expect(svg).toContain("no events");
    if (rows.length === 1) expect(svg.match(/<circle/g)?.length).toBe(3);
    expect((await pngOf(svg, widthPx)).length).toBeGreaterThan(1000);
  }
});

test("of 100 000 windows each peak is drawn, at most one point a pixel, and the note says how many windows are one", () => {
  const peaks = new Set([7, 50_001, 99_998]);
  const rows = Array.from({ length: 100_000 }, (_, n) => row(n, [2, 1, peaks.has(n) ? 90 : 3]));
  const svg = draw(specOf(rows));
  const points = pathPoints(svg, "p99");
  expect(points.length).toBeLessThan(1200);
  const top = Math.min(...points.map(([, y]) => y));
  expect(points.filter(([, y]) => y === top).length).toBe(3);
  expect(svg).toMatch(/of up to \d+ windows, the one with the largest percentile is drawn/);
  expect(svg.length).toBeLessThan(200_000);
});

test("the lines are named at their ends; the band reaches from the lowest to the highest percentile; the mean is dashed", () => {
  const rows = [1, 2, 3].map((n) => row(n, [5, 9, 1, 4]));
  const svg = draw(specOf(rows, { percentiles: [99, 10, 50] }));
  const names = [...svg.matchAll(/class="name name-\w+" x="([\d.]+)"[^>]*>([^<]+)</g)];
  expect(names.map(([, , name]) => name)).toEqual(["p99", "mean", "p50", "p10"]);
  for (const [, x] of names) expect(Number(x)).toBeGreaterThan(pathPoints(svg, "mean").at(-1)?.[0] as number);
  expect(svg).toContain('class="band" data-name="p10 to p99"');
  expect(svg).toMatch(/\.mean \{[^}]*stroke-dasharray/);
});

test("more than six percentiles: six lines, the lowest and the highest among them, and a note", () => {
  const percentiles = [1, 5, 10, 25, 50, 75, 90, 99];
  const rows = [1, 2].map((n) => row(n, [5, ...percentiles]));
  const svg = draw(specOf(rows, { percentiles }));
  expect(svg.match(/class="line (main|percentile)"/g)?.length).toBe(6);
  expect(svg).toContain('data-name="p1 to p99"');
  expect(svg).toContain("six of the percentiles are drawn");
});

test("the description says in words what the picture shows", () => {
  const [, text] = /<desc[^>]*>([^<]*)</.exec(draw(specOf([row(1, [5, 4, 1200]), row(2, [7, 6, 80], null, 9)]))) ?? [];
  expect(text).toContain(
    "p50 from 4 ms to 6 ms, p99 from 80 ms to 1.2 s, mean from 5 ms to 7 ms; 5 to 9 events per window",
  );
});
