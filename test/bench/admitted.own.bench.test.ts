import { expect, test } from "vitest";
import { benchAdmitted, SMALL_ADMITTED } from "../../bench/limiter/admitted.ts";

test("admitted: shares keep a limit in an outage, and whole limits do not", async () => {
  const { rows } = await benchAdmitted(SMALL_ADMITTED);
  expect(rows).toHaveLength(2 * SMALL_ADMITTED.cases.length);
  const all = rows.filter(({ what }) => what === "all lose the store");
  for (const { before, processes, share, begin, during, end } of all) {
    expect(before).toBe(100);
    if (share === "limit ÷ n") {
      expect(begin).toBeLessThanOrEqual(200);
      expect(during).toBeLessThanOrEqual(100);
      expect(during).toBeGreaterThanOrEqual(80); // rounded down
      expect(end).toBeLessThanOrEqual(200);
    } else if (processes !== 1) expect(during).toBe(300); // all calls
  }
});
