import fc from "fast-check";
import { expect, test } from "vitest";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { Dedupe } from "../../src/engine/journal/format/dedupe.ts";

test("a copy is counted from 20 s of journal time after the original on, and not before", () => {
  const dedupe = new Dedupe();
  expect(dedupe.admit(1, 1, 1000)).toBe(true);
  expect(dedupe.admit(1, 1, 1000)).toBe(false);
  expect(dedupe.admit(1, 2, 1000)).toBe(true);
  expect(dedupe.admit(2, 1, 1000)).toBe(true);
  expect(dedupe.admit(1, 1, 1000 + constants.dedupeMs - 1)).toBe(false);
  expect(dedupe.holds(1, 1, 1000 + constants.dedupeMs - 1)).toBe(true);
  expect(dedupe.holds(1, 1, 1000 + constants.dedupeMs)).toBe(false);
  expect(dedupe.admit(1, 1, 1000 + constants.dedupeMs)).toBe(true);
  expect(dedupe.admit(1, 1, 1000 + constants.dedupeMs)).toBe(false);
});

test("any journal is judged as by a process that remembers everything", () => {
  const frame = fc.record({
    producer: fc.integer({ min: 0, max: 2 }),
    sequence: fc.constantFrom(0, 1, 2 ** 32 - 1),
    stepMs: fc.oneof(fc.constantFrom(0, 1, 9999, 10_000, 19_999, 20_000, 20_001), fc.integer({ min: 0, max: 60_000 })),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 60 }), (frames) => {
      const dedupe = new Dedupe();
      const countedMs = new Map<string, number>();
      let stampMs = 0;
      for (const { producer, sequence, stepMs } of frames) {
        stampMs += stepMs;
        const name = `${producer} ${sequence}`;
        const before = countedMs.get(name);
        const isNew = before === undefined || stampMs - before >= constants.dedupeMs;
        expect(dedupe.holds(producer, sequence, stampMs)).toBe(!isNew);
        expect(dedupe.admit(producer, sequence, stampMs)).toBe(isNew);
        if (isNew) countedMs.set(name, stampMs);
      }
    }),
    { numRuns: 300 },
  );
});
