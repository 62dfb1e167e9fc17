import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KnownQuery, QueryCache } from "../../src/engine/series/queries.ts";
import { statsQuery } from "../../src/engine/stats/window-query.ts";
import { memoryStore, Series } from "../../src/entries/index.ts";

const RETENTION_MS = 60_000;

describe("repeated queries", () => {
  const options = fc.record(
    {
      span: fc.constantFrom(1000, "1s" as const, "5s" as const, "2m" as const, undefined),
      at: fc.constantFrom(5, 6, undefined),
      closed: fc.constantFrom("right" as const, "both" as const, "left" as never),
      maxAge: fc.constantFrom(0, 5),
      percentiles: fc.constantFrom([99], [99, 50], [50], [], [101], 99 as never),
      method: fc.constantFrom("linear" as const, "lower" as const),
      ddof: fc.constantFrom(0, 1, -1),
      signal: fc.constant(new AbortController().signal),
      other: fc.constant(1),
    },
    { requiredKeys: [] },
  );

  test.each(["at", "now"] as const)("are answered like new ones (at: the %s)", (end) => {
    const outcome = <T>(run: () => T): T | string => {
      try {
        return run();
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(fc.array(options, { maxLength: 12 }), (asked) => {
        const queries = new QueryCache(RETENTION_MS, end);
        const answered: KnownQuery[] = [];
        for (const each of asked.flatMap((one) => [one, { ...one }])) {
          const answer = outcome(() => queries.of(each));
          const checked = typeof answer === "string" ? answer : { ...answer, kind: undefined };
          expect(checked).toEqual(outcome(() => statsQuery(each, RETENTION_MS, end)));
          if (typeof answer !== "string") answered.push(answer);
        }
        const asks = ({ kind, maxAgeMs, ...question }: KnownQuery) => JSON.stringify(question);
        for (const one of answered)
          for (const other of answered) expect(one.kind === other.kind).toBe(asks(one) === asks(other));
      }),
      { numRuns: 300 },
    );
  });

  test("do not change when the caller changes the options or the answers", async () => {
    const series = new Series(memoryStore(), "asked");
    await series.recordMany([1, 2, 3]);
    const percentiles = [50];
    const options = { percentiles };
    const [one, two] = await Promise.all([series.stats(options), series.stats(options)]);
    expect(one).toEqual(two);
    one.percentiles[50] = 7;
    one.count = 8;
    expect(two).toMatchObject({ count: 3, percentiles: { 50: 2 } });
    percentiles[0] = 100;
    expect((await series.stats(options)).percentiles).toEqual({ 100: 3 });
    percentiles[0] = 101;
    await expect(series.stats(options)).rejects.toMatchObject({ code: "ARGUMENT" });
  });

  test("have the percentiles of the call, although the caller changes its array while the answer is awaited", async () => {
    const series = new Series(memoryStore(), "asked");
    await series.recordMany([1, 2, 3]);
    const percentiles = [50];
    const line = { every: "1h", percentiles } as const;
    const answers = [
      ...[series.stats({ percentiles }), Series.stats([series], { percentiles })],
      ...[series.timeline(line), Series.timeline([series], line)],
      series.compare({ span: 1, before: 1, percentiles }).then(({ current }) => current),
    ];
    percentiles[0] = 100;
    for (const answer of answers) expect(Object.keys((await answer).percentiles)).toEqual(["50"]);
  });
});
