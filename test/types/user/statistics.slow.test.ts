import { expectTypeOf, test } from "vitest";
import { LockedWindow, memoryStore } from "../../../src/entries/index.ts";

test("statistics of a locked window know their arguments, and their results have types", async () => {
  const store = memoryStore();
  const window = new LockedWindow(store, "w", {
    span: "1h",
    statistics: { max: (values) => Math.max(...values), first: (_values, times) => times[0] },
  });
  const answer = await window.addAndGetStats(1);
  expectTypeOf(answer.max).toEqualTypeOf<number>();
  expectTypeOf(answer.first).toEqualTypeOf<bigint | undefined>();
  expectTypeOf(answer.p99).toEqualTypeOf<number>();
  // @ts-expect-error: no such statistic
  answer.min;
  const plain = new LockedWindow(store, "w", { span: "1h" });
  // @ts-expect-error: it has none
  (await plain.stats()).max;
});
