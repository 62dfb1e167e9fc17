import { expect, test } from "vitest";
import { fixedWindow, gcra, Limiter, memoryStore, type Policy, slidingWindow } from "../../src/entries/index.ts";

/** Policies that are made anew for each call. */
const made: Record<string, () => Policy[]> = {
  "one policy": () => [slidingWindow({ limit: 2, span: "1m" })],
  "several policies": () => [
    slidingWindow({ limit: 2, span: "1m", name: "calls" }),
    gcra({ limit: 100, span: "1m", burst: 20, shadow: true }),
  ],
};

function counted(policies: () => Policy[]) {
  const store = memoryStore({ registry: false, clock: () => 1e12 });
  let steps = 0;
  const run: typeof store.run = (...call) => {
    steps++;
    return store.run(...call);
  };
  const limiter = new Limiter({ ...store, run }, policies, { name: "l", denyCache: 100 });
  return { limiter, steps: () => steps };
}

test.each(Object.entries(made))(
  "equal calls of a turn share a step, and denials are cached: %s",
  async (_, policies) => {
    const { limiter, steps } = counted(policies);
    const decisions = await Promise.all(Array.from({ length: 100 }, () => limiter.take("a")));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(2);
    expect(steps()).toBe(1);
    for (let i = 0; i < 100; i++) expect((await limiter.take("a")).allowed).toBe(false);
    expect(steps()).toBe(1);
  },
);

test("policies that differ in any part do not share a step", async () => {
  const own = { limit: 5, span: "1m" } as const;
  const different = [
    [slidingWindow(own), slidingWindow({ ...own, limit: 6 }), slidingWindow({ ...own, span: "2m" })],
    [gcra(own), gcra({ ...own, burst: 9 }), gcra({ ...own, shadow: true })],
    [fixedWindow(own), fixedWindow({ ...own, aligned: true })],
  ];
  for (const some of different) {
    let next = 0;
    const { limiter, steps } = counted(() => [some[next++ % some.length]!]);
    await Promise.all(Array.from({ length: 2 * some.length }, () => limiter.take("a")));
    expect(steps()).toBe(2 * some.length);
  }
});
