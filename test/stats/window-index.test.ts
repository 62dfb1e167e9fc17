import { afterEach, describe, expect, test } from "vitest";
import type { Closed } from "../../src/base/time.ts";
import { activeKernel, useKernel } from "../../src/engine/kernel/choose.ts";
import { js } from "../../src/engine/kernel/js/js.ts";
import { METHODS } from "../../src/engine/kernel/percentile/percentile.ts";
import { PackedEvents } from "../../src/engine/stats/segments/packed-events.ts";
import { Segments } from "../../src/engine/stats/segments/segments.ts";
import { WindowIndex } from "../../src/engine/stats/wavelet/window-index.ts";
import { Fold, statsOf, type WindowAggregates, type WindowStats } from "../../src/engine/stats/window-stats.ts";
import { LocalSeries } from "../../src/entries/index.ts";
import { forceKernel } from "../../src/entries/kernel.ts";
import { type Event, expectAlike, expectStats, inside } from "./oracle.ts";
import { uniformOf } from "./random.ts";

const SEED = Number(process.env.ORIEL_FUZZ_SEED ?? 25);
const PERCENTILES = [99, 50, 0, 0.1, 25, 50.5, 90, 99.9, 100];
const LIMITS = { minEvents: 500, patience: 1, eventsPerStep: 1 };
const RETENTION_MS = 20_000;

afterEach(() => forceKernel(null));

const shapes: Record<string, (u: () => number, i: number) => number> = {
  "spread out": (u) => Math.exp(7 * u()) - 20,
  drifting: (u, i) => 100 * u() + i / 10,
  "of few values": (u) => Math.floor(u() * 4) - 2,
  "all equal": () => 0.1,
  "zeros of either sign": (u) => [0, -0, 0, 1, -1][Math.floor(u() * 5)]!,
  "with what is no number": (u, i) =>
    i % 997 < 3
      ? [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][i % 3]!
      : Math.round(900 * u()) - 450,
};

/** Steps of the clock, and how long before the clock an event's own time lies. */
const clocks: Record<string, (u: () => number, i: number) => { stepMs: number; lateMs: number }> = {
  steady: () => ({ stepMs: 1, lateMs: 0 }),
  "in bursts": (u) => ({ stepMs: u() < 0.98 ? 0 : Math.floor(u() * 100), lateMs: 0 }),
  "late once": (_u, i) => ({ stepMs: 1, lateMs: i === 9000 ? 50 : 0 }),
};

function answerOf(fold: WindowAggregates, m: number): WindowStats {
  const method = METHODS[m % METHODS.length]!;
  const query = { percentiles: PERCENTILES, method, ddof: m % 2, spanMs: 1, atMs: 0, maxAgeMs: 0, kind: "" };
  return statsOf(fold, { ...query, closed: "right" }, "ignore", 0, 0, undefined);
}

function plain(segments: Segments, fromMs: number, toMs: number, closed: Closed): Fold {
  const fold = new Fold();
  for (const segment of segments.list) segment.collect(fold, fromMs, toMs, closed);
  return fold;
}

const exact = ({ count, min, max, percentiles }: WindowStats) => ({ count, min, max, percentiles });

/** All pairs of shape and clock by one kernel. The others, which share no code with it, have each shape and each clock. */
const pairsOf = (form: string) =>
  Object.keys(shapes).flatMap((shape, s) =>
    Object.keys(clocks)
      .filter((_, c, all) => form === "wasm-simd" || (s + (form === "js" ? 1 : 0)) % all.length === c)
      .map((clock) => ({ shape, clock })),
  );

describe.each([
  ["wasm-simd", "plain"],
  ["wasm-scalar", "packed"],
  ["js", "plain"],
] as const)("an index of windows, by %s, over %s segments", (form, segmentsAre) => {
  for (const { shape, clock } of pairsOf(form))
    test(`answers like sorted runs and brute force; values ${shape}, times ${clock}, seed ${SEED}`, () => {
      forceKernel(form);
      const u = uniformOf(SEED + 31 * shape.length + clock.length);
      const segments = new Segments(0, 3000, segmentsAre === "packed" ? PackedEvents : undefined);
      const index = new WindowIndex(LIMITS);
      let events: Event[] = [];
      let nowMs = 1e12;
      let recorded = 0;
      let indexed = 0;
      let queries = 0;
      for (let step = 0; step < 240; step++) {
        for (let many = Math.floor(u() * (step % 40 === 0 ? 4000 : 200)); many > 0; many--) {
          const { stepMs, lateMs } = clocks[clock]!(u, recorded);
          nowMs += stepMs;
          const value = Math.fround(shapes[shape]!(u, recorded++));
          segments.append(nowMs - lateMs, value);
          events.push({ t: nowMs - lateMs, value });
        }
        if (step % 20 === 19) {
          if (segments.openCount > 256) segments.close();
          if (segments.dropBefore(nowMs - RETENTION_MS)) index.release();
          events = events.filter(({ t }) => t >= nowMs - RETENTION_MS);
        }
        const ends = [u(), u() ** 4].map((share) => Math.floor(nowMs - RETENTION_MS * share));
        const [fromMs, toMs] = step % 5 === 0 ? [nowMs - RETENTION_MS, nowMs] : [Math.min(...ends), Math.max(...ends)];
        const closed = step % 3 === 0 ? "both" : "right";
        const fold = index.fold(segments.list, segments.version, { fromMs, toMs, closed }, 1e9);
        queries++;
        if (!fold) continue;
        indexed++;
        const answer = answerOf(fold, step);
        const runs = answerOf(plain(segments, fromMs, toMs, closed), step);
        expect(exact(answer)).toEqual(exact(runs));
        expectAlike(answer, runs);
        if (step % 11 > 0) continue;
        const values = inside(events, fromMs, toMs, closed);
        const method = METHODS[step % METHODS.length]!;
        expectStats(answer, values, { percentiles: PERCENTILES, method, ddof: step % 2, nan: "ignore" });
      }
      expect(indexed).toBeGreaterThan(clock === "late once" ? 50 : queries / 2);
    });
});

describe("an index", () => {
  const filled = (count: number, valueType = 0) => {
    const segments = new Segments(valueType);
    for (let i = 0; i < count; i++) segments.append(i, (i * 7919) % 1009);
    return segments;
  };
  const ask = (index: WindowIndex, { list, version }: Segments, roomBytes = 1e9) =>
    index.fold(list, version, { fromMs: 10, toMs: 2000, closed: "right" }, roomBytes);

  test("is built by the queries that would use it, and dropped if none did", () => {
    const index = new WindowIndex({ ...LIMITS, patience: 2 });
    const segments = filled(5000);
    expect([ask(index, segments), ask(index, segments)]).toEqual([undefined, undefined]);
    expect(ask(index, segments)?.count).toBe(1990);
    index.release();
    expect(ask(index, segments)?.count).toBe(1990);
    index.release();
    index.release();
    expect(ask(index, segments)).toBeUndefined();
  });

  test("is for enough f32 events, in the order of their times, and within its room", () => {
    const answers = (segments: Segments, roomBytes?: number) => {
      const index = new WindowIndex(LIMITS);
      ask(index, segments, roomBytes);
      return ask(index, segments, roomBytes) !== undefined;
    };
    expect(answers(filled(5000))).toBe(true);
    expect(answers(filled(499))).toBe(false);
    expect(answers(filled(5000, 1))).toBe(false);
    expect(answers(filled(5000), 9 * 5000 - 1)).toBe(false);
    const late = filled(5000);
    late.append(3, 1);
    expect(answers(late)).toBe(false);
    expect(answers(new Segments(0))).toBe(false);
  });

  test("is given up where there is no memory for it", () => {
    const none = {
      ...activeKernel(),
      wavelet: () => {
        throw new RangeError("out of memory");
      },
    };
    useKernel({ name: "js", create: () => none });
    const index = new WindowIndex(LIMITS);
    const segments = filled(5000);
    expect([ask(index, segments), ask(index, segments), ask(index, segments)]).toEqual(Array(3).fill(undefined));
    useKernel(js);
    expect(ask(index, segments)).toBeUndefined();
  });

  test("answers empty windows, and windows of one event", () => {
    const index = new WindowIndex(LIMITS);
    const segments = filled(5000);
    ask(index, segments);
    const { list, version } = segments;
    const fold = (fromMs: number, toMs: number) => index.fold(list, version, { fromMs, toMs, closed: "right" }, 1e9)!;
    expect(answerOf(fold(9000, 9999), 0)).toMatchObject({ count: 0, sum: 0, mean: Number.NaN });
    expect(answerOf(fold(-9, -1), 0)).toMatchObject({ count: 0, sum: 0, min: Number.NaN });
    for (const ms of [0, 255, 256, 4095, 4999]) {
      const value = (ms * 7919) % 1009;
      expectStats(answerOf(fold(ms - 1, ms), 0), [value], { percentiles: PERCENTILES, method: METHODS[0], ddof: 0 });
    }
  });
});

test("LocalSeries answers a window of the past the same with an index and without", () => {
  let nowMs = 1e12;
  const series = [1, Number.POSITIVE_INFINITY].map(
    (minEvents) => new LocalSeries({ retention: "1m", clock: () => nowMs }, undefined, { ...LIMITS, minEvents }),
  );
  const u = uniformOf(SEED);
  for (let i = 0; i < 100_000; i++) {
    nowMs++;
    const value = Math.exp(3 * u());
    for (const each of series) each.record(value);
    if (i % 500 !== 0) continue;
    const span = 1 + Math.floor(u() * 50_000);
    const at = nowMs - Math.floor(u() * 10_000);
    for (const options of [{ span, at }, { span }, { span: 30_000, at, closed: "both" as const, percentiles: [] }]) {
      const [indexed, plainly] = series.map((each) => each.stats(options));
      expectAlike(indexed!, plainly!);
    }
  }
});
