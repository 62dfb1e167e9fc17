import { expect, test } from "vitest";
import { benchOutage, SMALL_OUTAGE } from "../../bench/outage.ts";
import { OUTAGE_RIVALS } from "../../bench/rivals/outage.ts";

test("outage: one checked line per limiter and store", async () => {
  const able = OUTAGE_RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) console.warn(`skipped: ${rival.name}: ${reason}`);
    return !reason;
  });
  const { rows } = await benchOutage(SMALL_OUTAGE);
  const ours = able.filter(({ name }) => name.startsWith("oriel"));
  expect(rows.map(({ limiter }) => limiter)).toEqual([...able, ...ours].map(({ name }) => name));
  for (const row of rows)
    for (const name of ["decisions", "p50Ms", "p99Ms", "backMs"]) expect(row[name]).toBeGreaterThan(0);
});
