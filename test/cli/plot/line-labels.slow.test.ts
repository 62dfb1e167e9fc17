import fc from "fast-check";
import { expect, test } from "vitest";
import { placeLabels } from "../../../src/command/plot/drawing/value-chart.ts";

test("labels keep the order of their lines, are a gap apart, inside, and stay where there is room", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 10, max: 200, noNaN: true }), { minLength: 1, maxLength: 7 }), (ends) => {
      const placed = placeLabels(
        ends.map((lineY, i) => ({ name: `${i}`, kind: "percentile", lineY })),
        15,
        10,
        200,
      );
      expect(placed.length).toBe(ends.length);
      for (const [i, { y, lineY }] of placed.entries()) {
        expect(y).toBeGreaterThanOrEqual(10 - 1e-9);
        expect(y).toBeLessThanOrEqual(200 + 1e-9);
        const next = placed[i + 1];
        if (next !== undefined) {
          expect(next.lineY).toBeGreaterThanOrEqual(lineY);
          expect(next.y - y).toBeGreaterThanOrEqual(15 - 1e-9);
        }
        const isAlone = ends.every((other) => other === lineY || Math.abs(other - lineY) >= 15 * ends.length);
        if (isAlone && ends.filter((other) => other === lineY).length === 1) expect(y).toBe(lineY);
      }
    }),
  );
});
