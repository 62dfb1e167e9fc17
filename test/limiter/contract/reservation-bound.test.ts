import { expect, test } from "vitest";
import { Limiter, slidingWindow } from "../../../src/entries/index.ts";
import { onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";

// Not in every row: to read a thousand reservations takes the step long, and no client sees them.
test.each([
  ["memory", onMemory],
  ["Redis", onRedis],
])("at most 1024 reservations are open at a time, %s", async (_, open) => {
  const { store, close } = await open();
  const wide = new Limiter(store, [slidingWindow({ limit: 2000, span: 1000 })], { name: "wide" });
  for (let left = 1024; left > 0; left -= 64) {
    const some = await Promise.all(Array.from({ length: 64 }, () => wide.reserve("a", { cost: 1, lease: "1m" })));
    expect(some.every(({ allowed }) => allowed)).toBe(true);
  }
  await expect(wide.reserve("a", { cost: 1, lease: "1m" })).rejects.toMatchObject({ code: "OVERLOADED" });
  expect(await wide.peek("a")).toMatchObject({ remaining: 2000 - 1024 });
  await close();
});
