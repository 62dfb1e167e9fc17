import { describe, expect, test } from "vitest";
import { memoryStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { MemoryStore } from "../../src/store/memory/memory.ts";
import { type Run, storeWith } from "./contract/changed-store.ts";
import { START_MS } from "./contract/stores.ts";

describe("over long times and lost answers", () => {
  test("a writer that was idle for a month continues, although clocks drift by 5 in a million", async () => {
    const clock = { nowMs: START_MS, monotonicMs: 0 };
    const store = memoryStore({ clock: () => clock.nowMs, monotonic: () => clock.monotonicMs });
    const series = new Series(store, "s");
    await series.record(1);
    const monthMs = 30 * 86_400_000;
    clock.nowMs += monthMs;
    clock.monotonicMs += monthMs * (1 - 5e-6);
    await series.record(2);
    expect((await series.stats()).count).toBe(1);
  });

  test("a deletion whose first answer was lost leaves no chunk of the old journal", async () => {
    const { store, plain, clock } = storeWith(async (name, key, run) => {
      const answer = await run();
      if (name !== "journal/delete" || key.includes("}:") || isLost) return answer;
      isLost = true;
      clock.nowMs += 1000;
      await new Series(plain, "s", { retention: "5s" }).record(99);
      return run();
    });
    let isLost = false;
    const keys = new Set<string>();
    const watched: Store = {
      ...plain,
      run: ((operation, key, input) => {
        for (const each of operation.keysOf?.(key, input) ?? [key]) keys.add(each);
        return plain.run(operation, key, input);
      }) as Run,
    };
    const writer = new Series(watched, "s", { retention: "5s" });
    for (let i = 0; i < 20; i++) {
      await writer.recordMany([1, 2, 3]);
      clock.nowMs += 1000;
    }
    await new Series(store, "s", { retention: "5s" }).delete();
    const { entryOf } = plain as MemoryStore;
    expect([...keys].filter((key) => key.includes("}:") && !key.includes("{registry}") && entryOf(key))).toEqual([]);
  });
});
