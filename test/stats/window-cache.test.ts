import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "../../src/entries/index.ts";
import { PackedEvents } from "../../src/engine/stats/segments/packed-events.ts";
import { packing } from "../../src/engine/stats/segments/segment.ts";
import { Segments, WindowCache } from "../../src/engine/stats/segments/segments.ts";
import { Fold, statsOf, type WindowStats } from "../../src/engine/stats/window-stats.ts";
import { type Event, expectStats, inside } from "./oracle.ts";
import { uniformOf } from "./random.ts";

const PERCENTILES = [0, 0.1, 25, 50, 90, 99, 99.9, 100];
const query = {
  spanMs: 1,
  atMs: undefined,
  maxAgeMs: 0,
  closed: "right",
  percentiles: PERCENTILES,
  method: "linear",
  ddof: 0,
  kind: "",
} as const;

type Draw = (u: () => number, step: number) => number;

const shapes: Record<string, Draw> = {
  "spread out": (u) => Math.round(1e4 * u() ** 3) / 8,
  drifting: (u, step) => Math.round(100 * u()) + step,
  "falling in steps": (u, step) => Math.round(50 * u()) - 1000 * (step >> 5),
  "of few values": (u) => Math.floor(u() * 4) - 2,
  "all equal": () => 0.1,
  "zeros of either sign": (u) => (u() < 0.5 ? -0 : 0),
  "with what is no number": (u) => {
    const any = u();
    return any < 0.02
      ? Number.NaN
      : any < 0.04
        ? Number.POSITIVE_INFINITY
        : any < 0.06
          ? Number.NEGATIVE_INFINITY
          : Math.round(900 * any) - 450;
  },
};

/** How times run: the clock's steps, and how far an event's own time may lie from it. */
const clocks: Record<string, (u: () => number) => { stepMs: number; ownMs: number }> = {
  steady: () => ({ stepMs: 1, ownMs: 0 }),
  "in bursts": (u) => ({ stepMs: u() < 0.9 ? 0 : Math.floor(u() * 300), ownMs: 0 }),
  late: (u) => ({ stepMs: Math.floor(u() * 3), ownMs: u() < 0.2 ? -Math.floor(u() * 600) : 0 }),
  "late and early": (u) => ({ stepMs: Math.floor(u() * 3), ownMs: Math.floor(u() * 400) - 300 }),
};

function answer(fold: Fold, fromMs: number, toMs: number): WindowStats {
  return statsOf(fold, query, "ignore", fromMs, toMs, undefined);
}

function plain(segments: Segments, fromMs: number, toMs: number): Fold {
  const fold = new Fold();
  for (const segment of segments.list) segment.collect(fold, fromMs, toMs, "right");
  return fold;
}

/** The answers that all ways of computing give to the bit. */
const exact = ({ count, min, max, percentiles }: WindowStats) => [count, min, max, ...Object.values(percentiles)];

/** `expect` of each of a hundred thousand answers takes longer than the answers. */
function expectEqual(one: WindowStats, other: WindowStats): void {
  const [first, second] = [exact(one), exact(other)];
  if (!first.every((value, i) => Object.is(value, second[i]))) expect(second).toEqual(first);
}

describe("moving windows", () => {
  const { minEvents } = packing;
  beforeAll(() => {
    packing.minEvents = 1;
  });
  afterAll(() => {
    packing.minEvents = minEvents;
  });

  for (const shape of Object.keys(shapes))
    for (const clock of Object.keys(clocks))
      test(`match brute force for any split into segments: values ${shape}, times ${clock}`, () => {
        const u = uniformOf(shape.length * 31 + clock.length);
        const valueType = clock === "late" ? 0 : 1;
        const cuts = [7, 300, 900, 100_000].map((most, i) => ({
          segments: new Segments(valueType, most, i % 2 === 0 ? PackedEvents : undefined),
          cache: new WindowCache(),
        }));
        const events: Event[] = [];
        let nowMs = 1e12;
        for (let step = 0; step < 90; step++) {
          const many = Math.floor(u() * 90);
          const drawn = Float64Array.from({ length: many }, () => shapes[shape]!(u, step));
          const values = valueType === 1 ? drawn : Float32Array.from(drawn);
          const times = Float64Array.from({ length: many }, () => {
            const { stepMs, ownMs } = clocks[clock]!(u);
            nowMs += stepMs;
            return nowMs + ownMs;
          });
          for (const { segments } of cuts)
            if (step % 3 === 0) segments.appendAll(values, times);
            else for (const [i, value] of values.entries()) segments.append(times[i]!, value);
          for (const [i, value] of values.entries()) events.push({ t: times[i]!, value });
          if (step % 10 === 9)
            for (const { segments, cache } of cuts) if (segments.dropBefore(nowMs - 3000)) cache.clear();
          for (const span of [40, 900, 3000]) {
            const answers = cuts.map(({ segments, cache }) =>
              answer(cache.fold(segments.list, segments.version, nowMs - span, nowMs, "right"), 0, 0),
            );
            for (const { segments } of cuts) answers.push(answer(plain(segments, nowMs - span, nowMs), 0, 0));
            for (const other of answers) expectEqual(answers[0]!, other);
            const expected = inside(events, nowMs - span, nowMs);
            expectStats(answers[step % 4]!, expected, { nan: "ignore", percentiles: PERCENTILES });
          }
        }
      });
});
