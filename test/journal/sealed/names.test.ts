import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { Dedupe } from "../../../src/engine/journal/format/dedupe.ts";
import { encodeNames, type NamedFrame, SealedNames } from "../../../src/engine/journal/sealed/names.ts";

const CREATED_MS = 1e12;
const u32 = fc.oneof(fc.nat(6), fc.integer({ min: 0xffff_fff8, max: 0xffff_ffff }));
const namedFrame = fc.record({ producer: u32, sequence: u32, sinceCreationMs: fc.nat(60_000) });

function parsed(frames: readonly NamedFrame[]): SealedNames {
  return SealedNames.parse(encodeNames(frames), CREATED_MS, CREATED_MS + 60_000)!;
}

describe("against the frames themselves", () => {
  const step = fc.record({
    producer: fc.constantFrom(1, 2, 0xffff_ffff),
    /** 0: the next frame. 1 and more: a copy of an earlier one. Below 0: some sequences are left out. */
    back: fc.constantFrom(0, 0, 0, 0, 1, 2, 9, -1, -3),
    waitMs: fc.constantFrom(0, 1, 100, 3000, 9000),
  });

  /** The last frames of a chunk, sealed, and the frames of the chunks after it. */
  function play(steps: readonly { producer: number; back: number; waitMs: number }[], cut: number) {
    const whole = new Dedupe();
    const counted: (NamedFrame & { stampMs: number })[] = [];
    const next = new Map<number, number>();
    const differing: number[] = [];
    let names: SealedNames | undefined;
    let after = new Dedupe();
    let stampMs = CREATED_MS;
    for (const [i, { producer, back, waitMs }] of steps.entries()) {
      if (i === cut) {
        names = parsed(counted.filter((one) => one.stampMs > stampMs - constants.dedupeMs));
        after = new Dedupe();
      }
      stampMs += waitMs;
      const due = next.get(producer) ?? 0xffff_fffd;
      const sequence = (due - back) >>> 0;
      if (back <= 0) next.set(producer, (sequence + 1) >>> 0);
      const isNew = whole.admit(producer | 0, sequence | 0, stampMs);
      const isNewAfterSeal =
        names && !names.holds(producer | 0, sequence | 0, stampMs) && after.admit(producer | 0, sequence | 0, stampMs);
      const first = counted.find((one) => one.producer === producer && one.sequence === sequence);
      if (names && isNewAfterSeal !== isNew) differing.push(stampMs - first!.stampMs);
      if (isNew && !names) counted.push({ producer, sequence, sinceCreationMs: stampMs - CREATED_MS, stampMs });
    }
    return differing;
  }

  test("names recognise every copy that can be stored, and nothing else", () => {
    let differences = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 60, size: "max" }), fc.nat(60), (steps, cut) => {
        for (const apartMs of play(steps, cut)) {
          // No writer can store a copy this late, whatever the clocks do.
          expect(apartMs).toBeGreaterThanOrEqual(constants.dedupeMs);
          differences++;
        }
      }),
      { numRuns: 3000 },
    );
    expect(differences).toBeLessThan(1000);
  });
});

test("exactly the names that were encoded are found, until 20 s after the last stamp of their range", () => {
  fc.assert(
    fc.property(fc.array(namedFrame, { maxLength: 40 }), namedFrame, (frames, { producer, sequence }) => {
      const names = parsed(frames);
      const isNamed = frames.some((one) => one.producer === producer && one.sequence === sequence);
      expect(names.holds(producer, sequence, CREATED_MS)).toBe(isNamed);
      const lastMs = Math.max(0, ...frames.map((one) => one.sinceCreationMs));
      expect(names.holds(producer, sequence, CREATED_MS + lastMs + constants.dedupeMs)).toBe(false);
    }),
    { numRuns: 3000 },
  );
});

test("the bytes do not depend on the order of the frames", () => {
  fc.assert(
    fc.property(
      fc
        .array(namedFrame, { maxLength: 30 })
        .chain((frames) => fc.tuple(fc.constant(frames), fc.shuffledSubarray(frames, { minLength: frames.length }))),
      ([frames, shuffled]) => {
        expect(encodeNames(shuffled)).toEqual(encodeNames(frames));
      },
    ),
  );
});

test("a producer without a gap takes 16 bytes, whatever the number of its frames", () => {
  const frames = Array.from({ length: 50_000 }, (_, i) => ({
    producer: 7 + (i % 3),
    sequence: 100 + Math.floor(i / 3),
    sinceCreationMs: i,
  }));
  expect(encodeNames(frames)).toHaveLength(48);
});

test("a sequence that was left out is not covered, and the last sequence is not followed by the first", () => {
  const since = { producer: 1, sinceCreationMs: 0 };
  const names = parsed([5, 7, 0xffff_ffff, 0].map((sequence) => ({ ...since, sequence })));
  expect([0, 5, 6, 7, 8, 0xffff_ffff].map((sequence) => names.holds(1, sequence, CREATED_MS))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
  expect(names.rangeCount).toBe(4);
});

describe("damaged bytes", () => {
  const range = (producer: number, first: number, count: number) => [producer, first, count, 0];
  const bytesOf = (...ranges: number[][]) => new Uint8Array(Uint32Array.from(ranges.flat()).buffer);

  test.each([
    ["a part of a range", bytesOf(range(1, 1, 1)).subarray(0, 15)],
    ["an empty range", bytesOf(range(1, 1, 0))],
    ["a range beyond the last sequence", bytesOf(range(1, 0xffff_ffff, 2))],
    ["producers that descend", bytesOf(range(2, 1, 1), range(1, 1, 1))],
    ["sequences that descend", bytesOf(range(1, 9, 1), range(1, 1, 1))],
    ["ranges that overlap", bytesOf(range(1, 1, 5), range(1, 3, 5))],
    ["ranges that meet", bytesOf(range(1, 1, 5), range(1, 6, 5))],
  ])("%s is refused", (_what, bytes) => {
    expect(SealedNames.parse(bytes, CREATED_MS, CREATED_MS + 60_000)).toBeUndefined();
  });

  test("whatever is accepted is what encodeNames makes of the same names", () => {
    const hostile = fc.array(fc.tuple(fc.nat(2), u32, fc.oneof(fc.nat(4), u32), fc.nat(9)), { maxLength: 5 });
    let accepted = 0;
    fc.assert(
      fc.property(hostile, (ranges) => {
        const bytes = bytesOf(...ranges);
        const names = SealedNames.parse(bytes, CREATED_MS, CREATED_MS + 60_000);
        const isSmall = ranges.every(([, , count]) => count <= 4);
        if (!names || !isSmall) return;
        const frames = ranges.flatMap(([producer, first, count, sinceCreationMs]) =>
          Array.from({ length: count }, (_, i) => ({ producer, sequence: first + i, sinceCreationMs })),
        );
        expect(encodeNames(frames)).toEqual(bytes);
        accepted++;
      }),
      { numRuns: 5000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  test("any bytes are parsed or refused, and searched without an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), u32, u32, (bytes, producer, sequence) => {
        const names = SealedNames.parse(bytes, CREATED_MS, CREATED_MS + 60_000);
        expect([true, false, undefined]).toContain(names?.holds(producer, sequence, CREATED_MS));
      }),
    );
  });
});
