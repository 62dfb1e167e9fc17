import { createRequire } from "node:module";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { draw } from "../../bench/distributions.ts";
import { ByteReader, ByteWriter } from "../../bench/rivals/summary/byte-stream.ts";
import { ddSketch } from "../../bench/rivals/summary/dd-sketch.ts";
import { SUMMARIES, summaryMissing } from "../../bench/rivals/summary/summary.ts";
import { tDigest } from "../../bench/rivals/summary/t-digest.ts";
import { sortedPercentile } from "../../bench/rivals/typed-array.ts";
import { ofSize } from "../../bench/sealed/equal-size.ts";
import { errorOf } from "../../bench/sealed/errors.ts";
import { benchSummaries, SMALL_SUMMARIES } from "../../bench/sealed/summaries.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const require = createRequire(new URL("../../bench/package.json", import.meta.url));
const PERCENTILES = [0, 50, 90, 99, 100];

const able = SUMMARIES.filter((summary) => {
  const reason = summaryMissing(summary);
  if (reason) console.warn(`skipped: ${summary.name}: ${reason}`);
  return !reason;
});

test("counts and floats are read as they were written", () => {
  const counts = fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }));
  fc.assert(
    fc.property(counts, fc.double(), (each, double) => {
      const writer = new ByteWriter();
      writer.putFloat64(double);
      writer.putFloat32(Math.fround(double));
      for (const count of each) writer.putCount(count);
      const reader = new ByteReader(writer.take());
      expect([reader.takeFloat64(), reader.takeFloat32()]).toEqual([double, Math.fround(double)]);
      expect(each.map(() => reader.takeCount())).toEqual(each);
      expect(reader.isAtEnd).toBe(true);
    }),
  );
  const writer = new ByteWriter();
  for (const count of [127, 128]) writer.putCount(count);
  expect([...writer.take()]).toEqual([127, 128, 1]);
});

describe("errors", () => {
  const sorted = Float32Array.of(1, 2, 2, 2, 4, 8);

  test("the exact percentile has none", () => {
    for (let p = 0; p <= 100; p++) {
      const exact = sortedPercentile(sorted.slice(), p);
      expect(errorOf(sorted, p, exact, exact)).toEqual({ valuePercent: 0, rankPercent: 0 });
    }
  });

  test("an answer has the ranks of the values that equal it, or those between its neighbours", () => {
    const ranksOff = (p: number, answer: number) => (errorOf(sorted, p, 2, answer).rankPercent / 100) * sorted.length;
    expect([2, 3, 4, 8, 9].map((answer) => ranksOff(60, answer))).toEqual([0, 0, 1, 2, 2].map(expectNear));
    expect([1, 1.5, 2].map((answer) => ranksOff(40, answer))).toEqual([2, 1, 0].map(expectNear));
    expect(errorOf(sorted, 50, 2, 2.5).valuePercent).toBe(25);
  });

  function expectNear(value: number) {
    return expect.closeTo(value, 9);
  }
});

describe.each(able)("$name", (summary) => {
  const values = draw("lognormal", 20_000, 3);

  test("answers from its bytes as its package does", () => {
    const stored = summary.encode(values, summary.usual / 10);
    const answers = summary.percentiles(stored, PERCENTILES);
    for (const [i, right] of ownAnswers(summary.name, summary.usual / 10).entries())
      expect((answers[i] as number) / right).toBeCloseTo(1, 6);
  });

  test("has the wanted number of bytes, or holds each different value", () => {
    for (const bytes of [8_000, 40_000]) {
      const { setting, stored } = ofSize(summary, values, bytes);
      expect(stored.length / bytes).toBeCloseTo(1, 1);
      expect(summary.encode(values, setting)).toEqual(stored);
    }
    if (summary !== tDigest) return;
    const few = draw("ties", 20_000, 3).map((value) => value + 1);
    expect(ofSize(summary, few, 40_000).stored.length).toBeLessThan(9 * 8);
  });

  function ownAnswers(name: string, setting: number): number[] {
    if (name === ddSketch.name) {
      const { DDSketch } = require("@datadog/sketches-js") as typeof import("@datadog/sketches-js");
      const sketch = new DDSketch({ relativeAccuracy: setting });
      for (const value of values) sketch.accept(value);
      return PERCENTILES.map((p) => sketch.getValueAtQuantile(p / 100));
    }
    const { TDigest } = require("tdigest") as typeof import("tdigest");
    const digest = new TDigest(setting);
    for (const value of values) digest.push(value);
    return PERCENTILES.map((p) => digest.percentile(p / 100) as number);
  }
});

test.runIf(able.includes(ddSketch))("DDSketch refuses a value that it puts into no bin", () => {
  expect(() => ddSketch.encode(Float32Array.of(1, 0), 0.01)).toThrow("not positive");
});

describe("the small bench", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ tcp: true });
  });
  afterAll(() => server?.stop());

  test("summaries: outlines have no error, and each rival has as many bytes and a usual size", async () => {
    const { rows } = await benchSummaries(server.url, SMALL_SUMMARIES);
    const sizes = [["oriel, outlines", "equal"]].concat(
      able.flatMap(({ name }) => [
        [name, "equal"],
        [name, "usual"],
      ]),
    );
    expect(rows.map(({ by, size }) => [by, size])).toEqual([...sizes, ...sizes]);
    for (const values of ["rounded to 1 us", "unrounded"]) {
      const [exact, ...others] = rows.filter((row) => row.values === values);
      for (const [name, error] of Object.entries(exact!)) if (name.endsWith("Percent")) expect(error).toBe(0);
      for (const { by, size, bytes } of others) {
        const share = Number(bytes) / Number(exact!.bytes);
        if (size === "equal") expect(share, String(by)).toBeCloseTo(1, 1);
        else expect(share, String(by)).toBeLessThan(0.5);
      }
    }
    for (const row of rows)
      for (const p of [50, 90, 99]) expect(Number(row[`p${p}RankPercent`]), JSON.stringify(row)).toBeLessThan(2);
  });
});
