import fc from "fast-check";
import { expect, test } from "vitest";
import { constants } from "../../src/journal/format/constants.ts";
import { Dedupe } from "../../src/journal/format/dedupe.ts";
import { JournalRolledBack } from "../../src/journal/format/journal-rolled-back.ts";

const frame = fc.record({
  producer: fc.constantFrom(1, 2, 0xffff_ffff),
  /** Frames that come again as copies do: within 10 s; or by chance much later. */
  again: fc.constantFrom(0, 0, 0, 1, 2, 9),
  waitMs: fc.constantFrom(0, 1, 100, 3000, 9000),
});

test("ranges recognise the same copies as the names themselves", () => {
  let doubts = 0;
  fc.assert(
    fc.property(fc.array(frame, { minLength: 2, maxLength: 60, size: "max" }), fc.nat(60), (frames, cut) => {
      const whole = new Dedupe();
      let rest = whole;
      let stampMs = 1e12;
      const next = new Map<number, number>();
      const counted = new Map<string, number>();
      for (const [i, { producer, again, waitMs }] of frames.entries()) {
        // A copy of the whole so far in few bytes, from here on.
        if (i === cut) rest = new Dedupe(whole.rangesAt(stampMs));
        stampMs += waitMs;
        const last = next.get(producer) ?? 0xffff_fffd;
        const sequence = again === 0 ? (last + 1) >>> 0 : (last - again + 1) >>> 0;
        if (again === 0) next.set(producer, sequence);
        const name = `${producer} ${sequence}`;
        const countedMs = counted.get(name) ?? stampMs;
        const expected = whole.admit(producer | 0, sequence | 0, stampMs);
        if (expected) counted.set(name, stampMs);
        if (rest === whole) continue;
        try {
          expect(rest.admit(producer | 0, sequence | 0, stampMs)).toBe(expected);
        } catch (error) {
          if (!(error instanceof JournalRolledBack)) throw error;
          // Never of a copy in time.
          expect(stampMs - countedMs).toBeGreaterThan(constants.voidAfterMs);
          doubts++;
          return;
        }
      }
    }),
    { numRuns: 2000 },
  );
  expect(doubts).toBeLessThan(1000);
});
