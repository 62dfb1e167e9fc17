import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { draw } from "../../bench/distributions.ts";
import "../../src/entries/index.ts";
import type { Column } from "../../src/engine/kernel/contract.ts";
import { PackedEvents } from "../../src/engine/stats/segments/packed-events.ts";
import { PackedInts } from "../../src/engine/stats/segments/packed-ints.ts";
import { MAX_IN_SEGMENT, packing, Segment } from "../../src/engine/stats/segments/segment.ts";
import { Fold, statsOf, type WindowStats } from "../../src/engine/stats/window-stats.ts";
import { type Event, expectStats, inside } from "./oracle.ts";
import { uniformOf } from "./random.ts";

const PERCENTILES = [0, 33, 50, 99.9, 100];
const SPECIAL = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-45, -1e-45, 3.4e38, -3.4e38];

/** Of each f32 of random bits, NaN included. */
const anySingle = fc.oneof(
  fc.constantFrom(...SPECIAL.map(Math.fround)),
  fc.integer({ min: -3, max: 3 }),
  fc.integer().map((bits) => new Float32Array(Int32Array.of(bits).buffer)[0]!),
);
const event = fc.record({ t: fc.oneof(fc.nat(300), fc.constantFrom(-5e9, 2 ** 52)), value: anySingle });

function closedSegment(events: readonly Event[], valueType: number, isToPack: boolean): Segment {
  const { minEvents } = packing;
  const segment = new Segment(valueType);
  for (const { t, value } of events) segment.append(t, value);
  packing.minEvents = 1;
  segment.close(isToPack ? PackedEvents : undefined);
  packing.minEvents = minEvents;
  expect(segment.isPacked).toBe(isToPack && events.length > 0);
  return segment;
}

function foldOf(segment: Segment, fromMs: number, toMs: number): Fold {
  const fold = new Fold();
  segment.collect(fold, fromMs, toMs, "right");
  return fold;
}

function answerOf(fold: Fold): WindowStats {
  const query = { percentiles: PERCENTILES, method: "linear", ddof: 0, spanMs: 1, atMs: 0, maxAgeMs: 0 } as const;
  return statsOf(fold, { ...query, closed: "right" }, "ignore", 0, 0, undefined);
}

function doubles(values: Column): string[] {
  return Array.from(values, (value) => (Object.is(value, -0) ? "-0" : String(value)));
}

describe("packed integers", () => {
  test("are the integers that were packed, whatever their widths", () => {
    const group = fc.tuple(fc.integer({ min: 0, max: 32 }), fc.nat(0xffff_ffff), fc.integer({ min: 1, max: 64 }));
    fc.assert(
      fc.property(fc.array(group, { maxLength: 8 }), fc.nat(), (groups, seed) => {
        const u = uniformOf(seed);
        const ints = groups.flatMap(([width, base, count]) =>
          Array.from({ length: count }, () => Math.min(0xffff_ffff, base + Math.floor(u() * 2 ** width))),
        );
        const packed = new PackedInts(ints);
        expect(ints.map((_, i) => packed.at(i))).toEqual(ints);
      }),
      { numRuns: 300 },
    );
  });

  test("are searched like a scan searches them", () => {
    const int = fc.oneof(fc.nat(200), fc.nat(0xffff_ffff), fc.constantFrom(0xffff_ffff, 2 ** 31, 2 ** 31 - 1));
    fc.assert(
      fc.property(fc.array(int, { maxLength: 200 }), fc.oneof(int, fc.constant(2 ** 32)), (list, limit) => {
        const ints = list.sort((a, b) => a - b);
        const below = ints.filter((each) => each < limit).length;
        expect(new PackedInts(ints).lowerBound(limit, 0, ints.length)).toBe(below);
      }),
    );
  });

  test("that are too many for their places are refused", () => {
    const most = Uint32Array.from({ length: 65_472 }, (_, i) => (i % 2) * 0xffff_ffff);
    const packed = new PackedInts(most);
    expect([packed.at(65_470), packed.at(65_471), packed.sizeBytes]).toEqual([0, 0xffff_ffff, 268_032]);
    expect(() => new PackedInts(new Uint32Array(65_473))).toThrow("65473 integers; at most 65472 can be packed");
  });
});

describe("a packed segment", () => {
  test.each([
    ["f32", 0],
    ["f64", 1],
  ])("of %s values answers like one that is not packed, and like brute force", (_name, valueType) => {
    const limits = fc.oneof(anySingle, fc.double({ noNaN: true }), fc.constantFrom(1e-50, -1e-50, 1e39, -1e39));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 150 }), fc.array(fc.nat(300)), limits, (events, ends, limit) => {
        const [plain, packed] = [false, true].map((each) => closedSegment(events, valueType, each)) as [
          Segment,
          Segment,
        ];
        for (const [i, { t, value }] of events.entries()) {
          expect(packed.timeAt(i)).toBe(t);
          expect(packed.valueAt(i)).toBe(value);
        }
        const copies = [plain, packed].map((segment) => {
          const values = valueType === 1 ? new Float64Array(events.length) : new Float32Array(events.length);
          segment.copyTo(values, 0, events.length);
          return doubles(values);
        });
        expect(copies[1]).toEqual(copies[0]);
        for (const from of [-6e9, ...ends])
          for (const to of [from + 7, 301, 2 ** 53 - 1]) {
            const [fold, expected] = [foldOf(packed, from, to), foldOf(plain, from, to)];
            expect(answerOf(fold)).toEqual(answerOf(expected));
            for (const bound of ["lowerBound", "upperBound"] as const)
              if (!Number.isNaN(limit))
                expect(fold.countsOf([limit], bound)).toEqual(expected.countsOf([limit], bound));
            expectStats(answerOf(fold), inside(events, from, to), { nan: "ignore", percentiles: PERCENTILES });
          }
      }),
      { numRuns: 150 },
    );
  });

  test("finds every rank from every bound, as its numbers do", () => {
    const u = uniformOf(3);
    const values = Float32Array.from({ length: 3000 }, (_, i) =>
      i % 5 === 0 ? SPECIAL[i % 9]! : Math.exp(9 * u()) - 50,
    );
    const events = Array.from(values, (value, t) => ({ t, value }));
    const run = closedSegment(events, 0, true).runIfInside(-1, 3000, "right")!;
    const sorted = values.filter((value) => !Number.isNaN(value)).sort();
    expect(run.length).toBe(sorted.length);
    expect(doubles(run.part(0, run.length))).toEqual(doubles(sorted));
    for (const limit of [...sorted.subarray(0, 500), ...SPECIAL.filter((each) => each <= 9e99), 1e-46, -1e-46, 7.1]) {
      expect(run.lowerBound(limit, 0, run.length)).toBe(sorted.filter((each) => each < limit).length);
      expect(run.upperBound(limit, 0, run.length)).toBe(sorted.filter((each) => each <= limit).length);
    }
  });

  test("has columns only while a window has a part of it", () => {
    const events = Array.from({ length: 5000 }, (_, t) => ({ t, value: t % 97 }));
    const segment = closedSegment(events, 0, true);
    expect(segment.values.length).toBe(0);
    expect(answerOf(foldOf(segment, 1000, 3000)).count).toBe(2000);
    expect(segment.values.length).toBe(5000);
    expect(answerOf(foldOf(segment, -1, 5000)).count).toBe(5000);
    expect(segment.values.length).toBe(0);
  });

  test.each([
    ["rounded to 1 us, one event a ms", (value: number) => Math.round(value * 1000) / 1000, (i: number) => i, 5],
    ["unrounded, one event a ms", (value: number) => value, (i: number) => i, 5],
    ["unrounded, in batches of 32", (value: number) => value, (i: number) => 32 * (i >> 5), 5.1],
    ["of random bits", (_: number, i: number) => i, (i: number) => i, 5.9],
  ])("takes at most 6 bytes an event: %s", (_name, round, timeOf, mostBytes) => {
    const drawn = draw("lognormal", MAX_IN_SEGMENT, 31).map((value) => round(5 * value, 0));
    const bits = Uint32Array.from(drawn.keys(), (i) => Math.imul(i + 1, 0x9e37_79b1) & 0xff7f_ffff);
    const values = _name === "of random bits" ? new Float32Array(bits.buffer) : drawn;
    const segment = closedSegment(
      Array.from(values, (value, i) => ({ t: 1.7e12 + timeOf(i), value })),
      0,
      true,
    );
    const bytesPerEvent = segment.sizeBytes / MAX_IN_SEGMENT;
    expect(bytesPerEvent).toBeLessThan(mostBytes);
    expect(bytesPerEvent).toBeGreaterThan(4);
  });

  test("is not made of a few events", () => {
    const segment = new Segment(0);
    for (let i = 0; i < packing.minEvents - 1; i++) segment.append(i, i);
    segment.close(PackedEvents);
    expect(segment.isPacked).toBe(false);
  });
});
