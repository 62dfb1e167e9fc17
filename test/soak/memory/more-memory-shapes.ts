import { add as addCounts } from "../../../src/counters/counter/steps/add.ts";
import { Series } from "../../../src/entries/index.ts";
import { flush as flushBreaker } from "../../../src/limits/breaker/flush.ts";
import { flush as flushFleet } from "../../../src/metrics/fleet/flush.ts";
import { packStrings } from "../../../src/store/message-pack.ts";

import { pieceOf, type Shape, textOf } from "./memory-shapes.ts";

const counts =
  (text: (i: number) => string, rows: number, layout = "1|1|minute|UTC|a"): Shape[1] =>
  ({ store }) => {
    const given = (i: number) => packStrings(Array.from({ length: rows }, (_, j) => [text(rows * i + j), "1"]).flat());
    return (i) => {
      const before = i < 20 ? "" : `${Math.floor(i / 20) - 1}`;
      const mark = { layout, mark: "p:0123456789abcdef", before, after: `${Math.floor(i / 20)}`, total: rows };
      return store.run(addCounts, store.keyOf(`counter ${i % 20}`), { ...mark, rows: given(i) });
    };
  };

export const COUNTERS: Shape[] = [
  ["rows", counts((i) => `28fe3a0|${i}`, 10)],
  ["rows of long values", counts((i) => `28fe3a0|${textOf(i, 300)}`, 10)],
  ["rows of two bytes a character", counts((i) => `28fe3a0|${textOf(i, 200, "\u0431")}`, 10)],
  ["few rows again and again", counts((i) => `28fe3a0|${i % 50}`, 10), 5000],
  [
    "counters with a row each",
    ({ store }) =>
      (i) => {
        const addition = { layout: "1|1|minute|UTC|a", mark: `p:${i}`, before: "", after: "1", total: 1 };
        return store.run(addCounts, store.keyOf(`c${i}`), { ...addition, rows: packStrings(["28fe3a0|x", "1"]) });
      },
  ],
];

export const SERIES: Shape[] = [
  [
    "series of an event",
    ({ store }) =>
      (i) =>
        new Series(store, `s${i}`, { retention: "1h" }).record(i),
  ],
  [
    "series of many events",
    ({ store }) => {
      const all = Array.from({ length: 9 }, (_, i) => new Series(store, `s${i}`, { retention: "1h" }));
      const values = Float32Array.from({ length: 700 }, (_, i) => i);
      return (i) => all[i % 9]!.recordMany(values);
    },
  ],
  [
    "events one by one",
    ({ store }) => {
      const series = new Series(store, "one", { retention: "1h" });
      return (i) => series.record(i);
    },
    60_000,
  ],
];

const SHAPE = { sampleCount: 60, bucketMs: 1000, maxNames: 1000 };
const fleet =
  (nameOf: (i: number) => string, fleets: number): Shape[1] =>
  ({ store, clock }) =>
  (i) => {
    const bucket = Float64Array.of(
      clock.nowMs - (i % 60) * 1000,
      1,
      0,
      0,
      0,
      0,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    );
    const sent = { ...SHAPE, sender: textOf(i, 8).slice(0, 8), number: i + 1, given: [{ name: nameOf(i), bucket }] };
    return store.run(flushFleet, store.keyOf(`fleet ${i % fleets}`), sent);
  };

const RULE = {
  ...{
    spanMs: 60_000,
    tickMs: 1,
    minimumCalls: 1e9,
    failureRatio: Number.POSITIVE_INFINITY,
    slowRatio: Number.POSITIVE_INFINITY,
    failures: Number.POSITIVE_INFINITY,
  },
  ...{ cooldownMs: 1000, probes: 1, leaseMs: 1000 },
  ...{ quorum: Number.POSITIVE_INFINITY, factor: 1, longestMs: 1000, jitter: 0 },
};
const breaker =
  (breakers: number): Shape[1] =>
  ({ store, clock }) =>
  (i) => {
    const batch = Array.from({ length: 400 }, (_, j) => [(j % 100) * 10 + (i % 10), 1, 0, 0][j % 4]!);
    if (i % breakers === 0) clock.nowMs += 7;
    const handed = { rule: RULE, id: textOf(i % 999, 30).slice(0, 16), sequence: i + 1, batch, settled: [], wanted: 0 };
    return store.run(flushBreaker, store.keyOf(`b${i % breakers}`), { ...handed, first: 1 });
  };

export const OTHERS: Shape[] = [
  ["fleets of many names", fleet((i) => textOf(i % 900, 400), 7), 6000],
  ["names that are pieces of long texts", fleet((i) => pieceOf(i % 990), 7), 6000],
  ["fleets with a bucket each", fleet(() => "", 1e9), 3000],
  ["breakers", breaker(1e9)],
  ["breakers with many records", breaker(40), 3000],
];
