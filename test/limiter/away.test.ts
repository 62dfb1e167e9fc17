import { beforeEach, describe, expect, test } from "vitest";
import { fixedWindow, Limiter, memoryStore, OrielError, slidingWindow } from "../../src/index.ts";
import type { LimiterOptions } from "../../src/limiter/options.ts";
import type { Store } from "../../src/store/contract.ts";

/** A store that can be out of reach: where it is, nothing is asked of it. */
let isAway: boolean;
let asked: number;
let store: Store;
beforeEach(() => {
  const memory = memoryStore();
  [isAway, asked] = [false, 0];
  store = {
    ...memory,
    run(...args) {
      asked++;
      if (!isAway) return memory.run(...args);
      return Promise.reject(new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" }));
    },
  };
});
const limiterOf = (
  name: string,
  options: Partial<LimiterOptions> = {},
  policy = fixedWindow({ limit: 6, span: "1h" }),
) => new Limiter(store, [policy], { name, ...options });

describe("permits fetched ahead", () => {
  const lease = { permits: 3, for: "1s" } as const;
  const ten = (limiter: Limiter) => Promise.allSettled(Array.from({ length: 10 }, () => limiter.take("a")));

  test.each(["throw", "allow", "deny", "local"] as const)(
    "who waits for a fetch shares its fate: %s",
    async (onStoreError) => {
      const limiter = limiterOf("f", { onStoreError, lease });
      isAway = true;
      const settled = await ten(limiter);
      // Each would wait for a deadline of its own otherwise, one after the other.
      expect(asked).toBe(1);
      if (onStoreError === "throw") {
        const applied = settled.map((each) => each.status === "rejected" && (each.reason as OrielError).applied);
        expect(applied).toEqual(["unknown", ...Array(9).fill("no")]);
      } else {
        const allowed = settled.map((each) => each.status === "fulfilled" && each.value.allowed);
        const passed = { allow: 10, deny: 0, local: 6 }[onStoreError];
        expect(allowed).toEqual(Array.from({ length: 10 }, (_, i) => i < passed));
      }
      isAway = false;
      expect(await limiter.take("a")).toMatchObject({ allowed: true, degraded: false, remaining: 5 });
    },
  );

  test("a call that costs nothing passes where nothing could be fetched", async () => {
    const limiter = limiterOf("f", { lease }, slidingWindow({ limit: 1, span: "1h" }));
    await limiter.take("a");
    expect(await limiter.take("a")).toMatchObject({ allowed: false });
    expect(await limiter.take("a", { cost: 0 })).toMatchObject({ allowed: true, granted: 0, remaining: 0 });
  });
});
