import fc from "fast-check";
import { describe, expect, test } from "vitest";
import "../../src/entries/index.ts";
import { Segment } from "../../src/engine/stats/segments/segment.ts";
import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import { Fold, statsOf } from "../../src/engine/stats/window-stats.ts";
import { type Event, expectStats, inside } from "./oracle.ts";

const percentiles = [0, 33, 50, 99.9, 100];

function filled(valueType: number, events: readonly Event[]): Segment {
  const segment = new Segment(valueType, 0, 100_000);
  for (const { t, value } of events) put(segment, [{ t, value }]);
  return segment;
}

function put(segment: Segment, events: readonly Event[]): void {
  const at = segment.reserve(events.length);
  const times: number[] = [];
  for (const [i, { t, value }] of events.entries()) {
    segment.values[at + i] = value;
    times[i] = t;
  }
  segment.stampEach(times, 0, events.length);
}

function answer(segments: Segment[], fromMs: number, toMs: number, closed: "right" | "both"): WindowStats {
  const fold = new Fold();
  for (const segment of segments) segment.collect(fold, fromMs, toMs, closed);
  const query = {
    spanMs: 1,
    atMs: undefined,
    maxAgeMs: 0,
    closed,
    percentiles,
    method: "linear",
    ddof: 0,
    kind: "",
  } as const;
  return statsOf(fold, query, "ignore", fromMs, toMs, undefined);
}

function expectWindow(segment: Segment, events: readonly Event[], fromMs: number, toMs: number): void {
  for (const closed of ["right", "both"] as const) {
    const values = inside(events, fromMs, toMs, closed);
    expectStats(answer([segment], fromMs, toMs, closed), values, { nan: "ignore", percentiles });
    const into = new Float64Array(events.length);
    const copied = into.subarray(0, segment.copyInside(into, 0, fromMs, toMs, closed));
    expect(copied.length).toBe(values.length);
    expect(values.findIndex((each, i) => !Object.is(each, copied[i]))).toBe(-1);
  }
}

const value = fc.oneof(
  fc.constantFrom(0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e9, -1e-9),
  fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
);
const event = fc.record({ t: fc.integer({ min: 0, max: 40 }), value });

describe("a segment", () => {
  test("answers any window over unsorted events like brute force, open and closed", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 60 }),
        fc.array(fc.tuple(fc.integer({ min: -2, max: 42 }), fc.nat(45)), { minLength: 1, maxLength: 6 }),
        (events, windows) => {
          const segment = filled(1, events);
          for (const [from, span] of windows) expectWindow(segment, events, from, from + span);
          segment.close();
          for (const [from, span] of windows) expectWindow(segment, events, from, from + span);
        },
      ),
    );
  });

  test.each([511, 512, 513, 1024, 8191, 8192, 8193, 20_000])(
    "of %d events in blocks answers any part of it",
    (count) => {
      const events = Array.from({ length: count }, (_, i) => ({ t: i >> 2, value: ((i * 7919) % 1009) - 500 }));
      const shuffled = events.map((each, i) => (i % 3 === 0 ? events[(i * 31) % count]! : each));
      for (const list of [events, shuffled]) {
        const segment = filled(0, list);
        const end = count >> 2;
        const windows = [
          [-1, end],
          [0, end],
          [-1, end - 1],
          [0, end - 1],
          [end >> 1, end],
          [127, 128],
          [end - 1, end + 5],
          [end, end + 5],
          [-9, -1],
        ] as const;
        for (const [from, to] of windows) expectWindow(segment, list, from, to);
        segment.close();
        for (const [from, to] of windows) expectWindow(segment, list, from, to);
        expectWindow(segment, list, -1, end);
      }
    },
  );

  test("may grow between queries without an effect on earlier answers", () => {
    const events: Event[] = [];
    const segment = new Segment(1, 0, 100_000);
    for (let i = 0; i < 40; i++) {
      const more = Array.from({ length: 97 }, (_, j) => ({ t: i, value: i * 97 + j }));
      events.push(...more);
      put(segment, more);
      expectWindow(segment, events, -1, i);
      expectWindow(segment, events, i - 3, i);
    }
  });

  test("keeps times exact, however far apart they are", () => {
    const all = [5, 5 + 2 ** 31, 4 - 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1), 0, 6];
    for (let some = 1; some <= all.length; some++) {
      const events = all.slice(0, some).map((t, i) => ({ t, value: i }));
      const segment = new Segment(1);
      for (const [i, { t, value }] of events.entries()) {
        segment.append(t, value);
        expectWindow(segment, events.slice(0, i + 1), t - 1, t);
      }
      expect(events.map((_, i) => segment.timeAt(i))).toEqual(events.map(({ t }) => t));
      segment.close();
      for (const { t } of events) expectWindow(segment, events, t - 1, t);
      expect(segment.values.length).toBe(some);
    }
  });

  test("takes no more memory than its bound", () => {
    const segment = new Segment(0, 0, 20);
    for (let i = 0; i < 20; i++) expect(segment.append(i, i)).toBe(true);
    expect([segment.append(20, 20), segment.count, segment.room]).toEqual([false, 20, 0]);
  });

  test("that is empty adds nothing", () => {
    const segment = new Segment(0);
    expectWindow(segment, [], -1e9, 1e9);
    segment.close();
    expectWindow(segment, [], -1e9, 1e9);
  });

  test("can be folded with others, wherever the events are split", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), fc.array(fc.nat(80), { maxLength: 5 }), (events, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, events.length)).sort((a, b) => a - b), events.length];
        const segments = places.slice(1).map((to, i) => filled(1, events.slice(places[i], to)));
        for (const segment of segments.slice(0, -1)) segment.close();
        for (const [from, to] of [
          [-1, 50],
          [10, 30],
          [20, 20],
        ] as const)
          expectStats(answer(segments, from, to, "both"), inside(events, from, to, "both"), {
            nan: "ignore",
            percentiles,
          });
      }),
    );
  });
});
