import { describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { Pair } from "../pair.ts";

const INF = Number.POSITIVE_INFINITY;

/** One event a second, and after each the window of the last `length`; returns the last answer. */
async function sliding(values: readonly number[], length: number, options: { ddof?: number; nan?: "propagate" } = {}) {
  const { ddof = 0, ...policy } = options;
  const pair = new Pair({ retention: 60_000, ...policy });
  let last = await pair.check({ span: length * 1000, ddof });
  for (const value of values) {
    pair.nowMs += 1000;
    await pair.put([value]);
    last = await pair.check({ span: length * 1000, ddof });
  }
  return last;
}

describe("an event that has left the window leaves no trace", () => {
  test("an outlier in the sum", async () => {
    expect((await sliding([1e16, ...new Array(20).fill(0.1)], 5)).sum).toBe(0.5);
  });

  test("infinities in sum, extrema and variance", async () => {
    const options = { nan: "propagate" } as const;
    expect(await sliding([1, INF, 2, 3, 4], 2, options)).toMatchObject({ sum: 7, min: 3, max: 4, variance: 0.25 });
    expect(await sliding([1, INF, -INF], 2, options)).toMatchObject({ sum: Number.NaN, min: -INF, max: INF });
    expect(await sliding([1, INF, -INF, 2, 3], 2, options)).toMatchObject({ sum: 5, mean: 2.5 });
    expect(await sliding([INF, 5], 2, options)).toMatchObject({ sum: INF, mean: INF, variance: Number.NaN, min: 5 });
  });

  test("an outlier in the variance", async () => {
    expect((await sliding([1e8, 1, 2, 3, 4, 5], 4)).variance).toBe(1.25);
    expect((await sliding([1200, 1.3e17, 1.5e17, 1995, 1990], 2, { ddof: 1 })).std).toBe(3.5355339059327378);
    expect((await sliding([1e12, 4, 7, 13, 16, 4, 7], 4)).variance).toBe(22.5);
  });

  test("a NaN under each policy", async () => {
    expect(await sliding([1, Number.NaN, 2, 3], 2, { nan: "propagate" })).toMatchObject({ count: 2, sum: 5 });
  });
});

describe("numbers", () => {
  test("an offset of 1e9 costs no digits over many chunks", async () => {
    const pair = new Pair({ retention: 200_000 });
    for (let i = 0; i < 100; i++) {
      await pair.put(Array.from({ length: 10 }, (_, j) => 1e9 + [4, 7, 13, 16][(i * 10 + j) % 4]!));
      pair.nowMs += 1600;
    }
    const { std, count } = await pair.check();
    expect(count).toBe(1000);
    expect(Math.abs(std / 4.743416490252569 - 1)).toBeLessThan(1e-12);
  });

  test("a window of equal values has variance 0, however long", async () => {
    const pair = new Pair({ retention: 20_000 });
    await pair.put([1e9, -3, 0.2]);
    pair.nowMs += 5000;
    for (let i = 0; i < 10; i++) {
      await pair.put(new Array(20_000).fill(0.1));
      pair.nowMs += 400;
    }
    for (const answer of [pair.local.stats({ span: 4800 }), await pair.series.stats({ span: 4800 })])
      expect(answer).toMatchObject({
        ...{ count: 200_000, variance: 0, std: 0, min: 0.1, max: 0.1, mean: 0.1 },
        percentiles: { 50: 0.1, 90: 0.1, 99: 0.1 },
      });
  });

  test("denormals, zeros of both signs and the largest numbers", async () => {
    const pair = new Pair({ retention: 60_000 });
    for (const values of [[5e-324, 0, -0], [1.7e308], [-1.7e308, 5e-324], [-0]]) {
      await pair.put(values);
      const { percentiles } = await pair.check({ percentiles: [0, 25, 50, 75, 100] });
      expect(Object.values(percentiles).every(Number.isFinite)).toBe(true);
      pair.nowMs += 1100;
    }
    expect((await pair.check({ span: 1100, percentiles: [50] })).sum).toBe(0);
  });

  test("a sum within range is found although a partial sum is not", async () => {
    const pair = new Pair({ retention: 60_000 });
    await pair.put([1e308, 1e308, -1e308]);
    expect((await pair.check()).sum).toBe(1e308);
  });

  test("a sum within range is found although its parts lie in several chunks", async () => {
    const pair = new Pair({ retention: 60_000 });
    for (const values of [[1e308, 1e308], [-1e308], [-1e308, -1e308], [1e308, 2]]) {
      await pair.put(values);
      pair.nowMs += 1100;
    }
    const answers = [pair.local.stats({}), await pair.series.stats({}), await pair.reader().stats({})];
    expect(answers.map(({ sum }) => sum)).toEqual([2, 2, 2]);
  });

  test("the mean of numbers near the largest one is finite", async () => {
    const pair = new Pair({ retention: 60_000 });
    await pair.put([1.7e308, 1.7e308]);
    const answers = [pair.local.stats(), await pair.series.stats()];
    expect(answers.map(({ mean, sum }) => [mean, sum])).toEqual([
      [1.7e308, INF],
      [1.7e308, INF],
    ]);
  });
});

describe("times", () => {
  test("at the edges of a window, with either closed side", async () => {
    const pair = new Pair({ retention: 60_000, startMs: 5000 });
    await pair.put([1, 2, 3, 4, 5], [3999, 4000, 4001, 5000, 5001]);
    expect((await pair.check({ span: 1000 })).sum).toBe(3 + 4);
    expect((await pair.check({ span: 1000, closed: "both" })).sum).toBe(2 + 3 + 4);
    pair.nowMs = 5001;
    expect((await pair.check({ span: 1000 })).sum).toBe(4 + 5);
    expect((await pair.check({ span: 1000, closed: "both" })).sum).toBe(3 + 4 + 5);
  });

  test("10 000 events at one instant, before and after a chunk is closed, are all there", async () => {
    const pair = new Pair({ retention: 60_000 });
    const t = pair.nowMs;
    await pair.put(Array.from({ length: 5000 }, (_, i) => i));
    pair.nowMs += 1500;
    await pair.put([-1]);
    await pair.put(
      Array.from({ length: 5000 }, (_, i) => 9999 - i),
      t,
    );
    expect((await pair.check({ at: t, span: 1 })).count).toBe(10_000);
    expect((await pair.check()).count).toBe(10_001);
    pair.nowMs = t + 60_000;
    expect((await pair.check()).count).toBe(1);
    expect((await pair.check({ closed: "both" })).count).toBe(10_001);
  });

  test("out of order: accepted within the retention, refused beyond it", async () => {
    const pair = new Pair({ retention: 10_000 });
    for (let i = 0; i < 12; i++) {
      await pair.put([i], pair.nowMs - ((i * 7919) % 9000));
      await pair.put([100 + i], pair.nowMs - 10_000);
      expect(() => pair.local.record(1, { at: pair.nowMs - 10_001 })).toThrow(
        expect.objectContaining({ code: "LATE" }),
      );
      await expect(pair.series.record(1, { at: pair.nowMs - 10_001 })).rejects.toMatchObject({
        code: "LATE",
        applied: "no",
      });
      await pair.check();
      await pair.check({ closed: "both", span: 1 + ((i * 997) % 10_000) });
      pair.nowMs += 800;
    }
  });

  test("when the clock goes back the time stands still; an event far ahead is refused and hides nothing", async () => {
    const pair = new Pair({ retention: 5000, startMs: 10_000 });
    await pair.put([1], 6000);
    await pair.put([2]);
    await pair.check({ span: 1000 });
    pair.nowMs = 9000;
    expect((await pair.check({ span: 1000 })).to).toBe(10_000);
    await pair.put([3], 9500);
    await pair.check({ span: 1000 });
    const yearMs = 365 * 86_400_000;
    expect(() => pair.local.record(4, { at: 10_000 + yearMs })).toThrow(expect.objectContaining({ code: "EARLY" }));
    await expect(pair.series.record(4, { at: 10_000 + yearMs })).rejects.toMatchObject({ code: "EARLY" });
    pair.nowMs = 11_000;
    await pair.put([5]);
    expect((await pair.check()).count).toBe(3);
    expect((await pair.check({ closed: "both" })).count).toBe(4);
    expect((await pair.series.stats({ at: 7000, span: 4000 })).degradedBy).toBe("retention");
    expect(pair.local.stats({ at: 7000, span: 4000 }).degradedBy).toBe("retention");
  });

  test("empty windows: never written, all left, all expired, and a new series afterwards", async () => {
    const pair = new Pair({ retention: 3000 });
    await pair.check();
    await pair.put([1, 2]);
    pair.nowMs += 3000;
    expect((await pair.check()).count).toBe(0);
    expect((await pair.check({ closed: "both" })).count).toBe(2);
    pair.nowMs += 3000 + 1000 + constants.expirySlackMs + 1;
    expect(await pair.check()).toMatchObject({ count: 0, sum: 0, mean: Number.NaN, degraded: false });
    await pair.put([7]);
    expect(await pair.check({ span: 1 })).toMatchObject({ count: 1, degraded: false });
  });

  test.each([
    ["around 2^53", 2 ** 53 - 1 - 4_000_000],
    ["around 0", 500],
    ["before 1970", -5_000_000],
    ["fractional", 4_000_000.75],
  ])("%s are valid names", async (_name, startMs) => {
    const pair = new Pair({ retention: 5000, startMs });
    for (let i = 0; i < 20; i++) {
      await pair.put([i, -i], [pair.nowMs - ((i * 619) % 5000), pair.nowMs - 0.5]);
      await pair.put([0.5]);
      await pair.check({ span: 1 + i * 200 });
      pair.nowMs += 700;
    }
    await pair.check({ closed: "both" });
  });
});
