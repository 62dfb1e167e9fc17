// Segments of pairs are longer than others, and their runs are sorted by the question that reads them.
import { beforeAll, describe, expect, test } from "vitest";
import { GroupedWindow, rowAggregates } from "../../src/engine/groups/grouped-window.ts";
import { LateRun } from "../../src/engine/groups/late-run.ts";
import { VALUE_PAIR } from "../../src/engine/journal/format/constants.ts";
import { pairOf } from "../../src/engine/kernel/blocks/pairs.ts";
import { ColumnRun } from "../../src/engine/stats/runs/run.ts";
import { PackedEvents } from "../../src/engine/stats/segments/packed-events.ts";
import { provideRuns } from "../../src/engine/stats/segments/segment.ts";
import { Segments } from "../../src/engine/stats/segments/segments.ts";
import { forceKernel } from "../../src/entries/kernel.ts";

beforeAll(() => {
  forceKernel("js");
  provideRuns((arrived, isTransient) => new LateRun(arrived, isTransient));
});

const COUNT = 140_000;
const GROUPS = 7;
/** Of a group come as many events as it has in these columns. */
const numberOf = (i: number) => (i * i + (i >> 3)) % GROUPS;
const latencyOf = (i: number) => Math.fround(((i * 7919) % 10_007) / 8 - 100);
/** Ten events have one time, as a batch has. */
const timeOf = (i: number) => Math.floor(i / 10);

function filled(): Segments {
  const segments = new Segments(VALUE_PAIR);
  for (let from = 0; from < COUNT; from += 1000) {
    const events = Array.from({ length: 1000 }, (_, j) => from + j);
    const pairs = Float64Array.from(events, (i) => pairOf(numberOf(i), latencyOf(i)));
    segments.appendAll(pairs, events.map(timeOf));
  }
  return segments;
}

function rowsOf(segments: Segments, fromMs: number, toMs: number) {
  const events = new GroupedWindow();
  for (const segment of segments.list) segment.collect(events, fromMs, toMs, "right");
  const places = Int32Array.from({ length: GROUPS }, (_, number) => number);
  return rowAggregates([{ events, places }], GROUPS).map((row) => {
    const [at] = row.valuesAt(Math.floor(0.99 * (row.count - 1)));
    return { count: row.count, min: row.min, max: row.max, sum: row.sum, at };
  });
}

function bruteForce(fromMs: number, toMs: number) {
  return Array.from({ length: GROUPS }, (_, group) => {
    const values: number[] = [];
    for (let i = 0; i < COUNT; i++)
      if (timeOf(i) > fromMs && timeOf(i) <= toMs && numberOf(i) === group) values.push(latencyOf(i));
    values.sort((one, other) => one - other);
    const sum = values.reduce((all, value) => all + value, 0);
    return {
      ...{ count: values.length, min: values[0], max: values.at(-1), sum },
      at: values[Math.floor(0.99 * (values.length - 1))],
    };
  });
}

describe("segments of pairs", () => {
  let segments: Segments;
  beforeAll(() => {
    segments = filled();
  });

  test("are as long as packing allows, and take at most 18 bytes an event", () => {
    expect(segments.list.map(({ count }) => count)).toEqual([65_472, 65_472, 9056]);
    expect(segments.sizeBytes).toBe(18 * COUNT);
  });

  test.each([
    ["all", -1, COUNT],
    ["an edge in the first", 1234, COUNT],
    ["edges in the first and the second", 321, 10_007],
    ["a part of the open one", 13_500, 13_777],
    ["a few events", 7000, 7003],
  ])("answer for a window with %s", (_, fromMs, toMs) => {
    const right = bruteForce(fromMs, toMs);
    // Asked again, the second answer comes from blocks.
    for (let turn = 0; turn < 3; turn++) expect(rowsOf(segments, fromMs, toMs)).toEqual(right);
  });

  test("answer the same when they are packed", () => {
    const packed = filled();
    expect(packed.packNext(PackedEvents)).toBe(true);
    expect(rowsOf(packed, 100, 13_000)).toEqual(bruteForce(100, 13_000));
  });
});

test("columns of expected pairs are made once, and have no spare room", () => {
  const segments = new Segments(VALUE_PAIR);
  const append = (from: number, to: number) => {
    const pairs = Float64Array.from({ length: to - from }, (_, i) => pairOf(numberOf(from + i), latencyOf(from + i)));
    segments.appendAll(pairs, 1);
  };
  append(0, 500);
  segments.expect(99_500);
  const { values } = segments.list[0]!;
  for (let from = 500; from < 100_000; from += 500) append(from, from + 500);
  expect(segments.list.map((segment) => [segment.count, segment.values.length])).toEqual([
    [65_472, 65_472],
    [34_528, 34_528],
  ]);
  expect(segments.list[0]!.values).toBe(values);
  expect(segments.list[1]!.valueAt(34_527)).toBe(pairOf(numberOf(99_999), latencyOf(99_999)));
  segments.expect(0);
  expect(segments.list).toHaveLength(2);
});

test("a late run is a sorted run of the same pairs", () => {
  const pairs = Float64Array.from({ length: 300 }, (_, i) => pairOf(numberOf(i), latencyOf(i)));
  const before = pairs.slice();
  const late = new LateRun(pairs);
  const sorted = ColumnRun.of(pairs.slice());
  expect([late.length, late.count, late.nanCount]).toEqual([300, 300, 0]);
  expect(late.part(0, 300)).toEqual(sorted.part(0, 300));
  expect(late.part(17, 23)).toEqual(sorted.part(17, 23));
  const limit = sorted.at(120);
  for (const bound of ["lowerBound", "upperBound"] as const)
    expect(late[bound](limit, 0, 300)).toBe(sorted[bound](limit, 0, 300));
  expect(late.at(299)).toBe(sorted.at(299));
  const [into, right] = [new Float64Array(9), new Float64Array(9)];
  late.copyTo(into, 2, 40, 45);
  sorted.copyTo(right, 2, 40, 45);
  expect(into).toEqual(right);
  expect(pairs).toEqual(before);
});
