import fc from "fast-check";
import { expect, test } from "vitest";
import type { Reading } from "../../../src/command/formats/reading.ts";
import { bruteForceReplay, type ReplayLaw } from "../brute-force.ts";
import { command } from "../command.ts";
import { expectRows } from "../expect-rows.ts";

/** Times on a small grid around multiples of everything, in steps that go back as well as forth, with gaps. */
const events = (longestGapMs: number) =>
  fc
    .array(
      fc.record({
        stepMs: fc.oneof(
          { weight: 8, arbitrary: fc.integer({ min: -4, max: 8 }) },
          fc.integer({ min: -100, max: longestGapMs }),
        ),
        key: fc.constantFrom("a", "b"),
        value: fc.integer({ min: 1, max: 1000 }).map((whole) => whole / 7),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((steps) => {
      let atMs = 1_400_000_000_000;
      return steps.map(({ stepMs, key, value }, index): Reading => {
        atMs += stepMs;
        return { lineNumber: index + 1, atMs, key, value };
      });
    });

const laws = fc.record({
  spanMs: fc.integer({ min: 1, max: 30 }),
  everyMs: fc.integer({ min: 1, max: 30 }),
  latenessMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
  closed: fc.constantFrom("right" as const, "both" as const),
  percentiles: fc.constant([10, 50, 99]),
});

async function expectReplay(readings: readonly Reading[], law: ReplayLaw): Promise<void> {
  const wanted = bruteForceReplay(readings, law);
  const lines = readings.map(({ atMs, key, value }) => JSON.stringify({ time: atMs, key, value }));
  const options = ["--key", "key", "--span", `${law.spanMs}ms`, "--every", `${law.everyMs}ms`];
  const rest = ["--lateness", `${law.latenessMs}ms`, "--closed", law.closed, "--percentiles", "10,50,99", "--json"];
  const empty = law.empty ? ["--empty"] : [];
  const ended = await command(["replay", "-", ...options, ...rest, ...empty], lines.join("\n"));
  expect(ended.status, ended.stderr).toBe(0);
  expectRows(ended.stdout, wanted.rows, law.percentiles);
  expect(ended.stderr).toContain(`; ${wanted.lateCount} events came late`);
  expect(ended.stderr).toContain(`; ${wanted.lostCount} too late for any`);
}

test("random events in any order and by any law: windows and both counts of late events match brute force", async () => {
  await fc.assert(
    fc.asyncProperty(events(100_000), laws, (readings, law) => expectReplay(readings, law)),
    { numRuns: 60 },
  );
});

test("windows without events match too", async () => {
  await fc.assert(
    fc.asyncProperty(events(60), laws, (readings, law) => expectReplay(readings, { ...law, empty: true })),
    { numRuns: 60 },
  );
});

test("windows without events are printed from the first event on, even if no window covers that event", async () => {
  const days = ["2020-01-01 10:00:00,1", "2020-01-03 23:59:00,2", "2020-01-05 10:00:00,3", "2020-01-05 23:59:30,4"];
  const options = ["--span", "10m", "--every", "1d", "--empty", "--json"];
  const { stdout } = await command(["replay", "-", ...options], `timestamp,value\n${days.join("\n")}\n`);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { end: string; count: number });
  expect(rows.map(({ end, count }) => [end.slice(0, 10), count])).toEqual([
    ["2020-01-02", 0],
    ["2020-01-03", 0],
    ["2020-01-04", 1],
    ["2020-01-05", 0],
    ["2020-01-06", 1],
  ]);
});
