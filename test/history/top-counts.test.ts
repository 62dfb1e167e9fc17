import fc from "fast-check";
import { expect, test } from "vitest";
import { TopCounts } from "../../src/operate/history/top-counts.ts";

test("a count is exact up to the maximum of ids, else too small by at most total / (maximum + 1)", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 200 }),
      (max, ids) => {
        const top = new TopCounts(max);
        const truth = new Map<string, number>();
        for (const id of ids) {
          top.add(String(id));
          truth.set(String(id), (truth.get(String(id)) ?? 0) + 1);
        }
        const counts = top.takeAll();
        if (truth.size <= max) expect(counts).toEqual(truth);
        expect(counts.size).toBeLessThanOrEqual(max);
        for (const [id, count] of truth) {
          const found = counts.get(id) ?? 0;
          expect(found).toBeLessThanOrEqual(count);
          expect(found).toBeGreaterThanOrEqual(count - ids.length / (max + 1));
        }
        expect(top.takeAll().size).toBe(0);
      },
    ),
  );
});
