import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  fixedWindow,
  Limiter,
  localDecisions,
  memoryStore,
  type OrielError,
  slidingWindow,
} from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { awayStore } from "./faults/away-store.ts";

const LIMIT = 20;
const SPAN_MS = 1000;
const AHEAD = 6;

function scene(lease = { permits: AHEAD, for: 100 }) {
  const clock = { nowMs: Date.UTC(2100, 0, 1) };
  const store = memoryStore({ clock: () => clock.nowMs, registry: false });
  let asked = 0;
  const counted: Store = {
    ...store,
    run(operation, key, input, options) {
      asked++;
      return store.run(operation, key, input, options);
    },
  };
  const process = () =>
    new Limiter(counted, [slidingWindow({ limit: LIMIT, span: SPAN_MS })], { name: "ahead", lease });
  return { clock, process, asked: () => asked };
}

test("no span has more calls than the limit and the permits that each process fetched ahead", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(2), fc.constantFrom(0, 1, 30, 99, 100, 101, 700), fc.integer({ min: 1, max: 4 }))),
      async (steps) => {
        const { clock, process } = scene();
        const processes = [process(), process(), process()];
        const passed: { atMs: number; permits: number }[] = [];
        for (const [which, waitMs, cost] of steps) {
          clock.nowMs += waitMs;
          const { allowed, granted, degraded } = await processes[which]!.take("id", { cost });
          expect(degraded).toBe(false);
          if (!allowed) continue;
          expect(granted).toBe(cost);
          passed.push({ atMs: clock.nowMs, permits: cost });
          const inside = passed.filter(({ atMs }) => atMs > clock.nowMs - SPAN_MS);
          const sum = inside.reduce((total, { permits }) => total + permits, 0);
          expect(sum).toBeLessThanOrEqual(LIMIT + processes.length * AHEAD);
        }
      },
    ),
  );
});

test("one process alone never exceeds the limit in a span that begins with a fetch, and sends few requests", async () => {
  const { process, asked } = scene();
  const limiter = process();
  const decisions = await Promise.all(Array.from({ length: 60 }, () => limiter.take("id")));
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(LIMIT);
  // 6, 6, 6, the 2 that were left, one that is denied, and all others who waited for that together.
  expect(asked()).toBe(6);
});

test("fetched permits are valid for their time only", async () => {
  const { clock, process, asked } = scene();
  const limiter = process();
  await limiter.take("id");
  clock.nowMs += 99;
  expect((await limiter.take("id")).remaining).toBe(LIMIT - 2);
  expect(asked()).toBe(1);
  clock.nowMs += 1;
  expect((await limiter.take("id")).remaining).toBe(LIMIT - AHEAD - 1);
  expect(asked()).toBe(2);
});

test("a reset, and other limits of one call, apply at once", async () => {
  const { process, asked } = scene();
  const limiter = process();
  await limiter.take("id");
  await limiter.reset("id");
  expect((await limiter.peek("id")).remaining).toBe(LIMIT);
  const policies = [slidingWindow({ limit: 1, span: SPAN_MS })];
  expect(await limiter.take("id", { policies })).toMatchObject({ allowed: true, remaining: 0 });
  expect(asked()).toBe(4);
});

test.each([
  [{ permits: 0, for: "1s" }, "lease.permits"],
  [{ permits: 1.5, for: "1s" }, "lease.permits"],
  [{ permits: 1, for: "2s" }, "lease.for"],
  [{ permits: 1, for: 0 }, "lease.for"],
] as const)("%o is refused", (lease, named) => {
  const make = () => new Limiter(memoryStore(), [slidingWindow({ limit: 1, span: 1 })], { name: "a", lease });
  expect(make).toThrowError(expect.objectContaining({ code: "ARGUMENT", message: expect.stringContaining(named) }));
});

describe("while the store is unreachable", () => {
  const ten = (limiter: Limiter) => Promise.allSettled(Array.from({ length: 10 }, () => limiter.take("a")));

  test.each(["throw", "allow", "deny", "local"] as const)(
    "callers that wait for a fetch get its outcome: %s",
    async (wished) => {
      const onStoreError = wished === "local" ? localDecisions() : wished;
      const [opened, lease] = [awayStore(), { permits: 3, for: "1s" } as const];
      const policies = [fixedWindow({ limit: 6, span: "1h" })];
      const limiter = new Limiter(opened.store, policies, { name: "f", onStoreError, lease });
      opened.isStoreFailure = true;
      const settled = await ten(limiter);
      // Each would wait for a deadline of its own otherwise, one after the other.
      expect(opened.asked).toBe(wished === "local" ? 2 : 1); // local: the process is noted too
      if (wished === "throw") {
        const applied = settled.map((each) => each.status === "rejected" && (each.reason as OrielError).applied);
        expect(applied).toEqual(["unknown", ...Array(9).fill("no")]);
      } else {
        const allowed = settled.map((each) => each.status === "fulfilled" && each.value.allowed);
        const passed = { allow: 10, deny: 0, local: 6 }[wished];
        expect(allowed).toEqual(Array.from({ length: 10 }, (_, i) => i < passed));
      }
      opened.isStoreFailure = false;
      expect(await limiter.take("a")).toMatchObject({ allowed: true, degraded: false, remaining: 5 });
    },
  );

  test("a call with cost 0 passes although nothing was fetched", async () => {
    const policies = [slidingWindow({ limit: 1, span: "1h" })];
    const limiter = new Limiter(memoryStore(), policies, { name: "f", lease: { permits: 3, for: "1s" } });
    await limiter.take("a");
    expect(await limiter.take("a")).toMatchObject({ allowed: false });
    expect(await limiter.take("a", { cost: 0 })).toMatchObject({ allowed: true, granted: 0, remaining: 0 });
  });
});
