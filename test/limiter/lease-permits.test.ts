import { expect, test } from "vitest";
import { fixedWindow, Limiter, memoryStore, type Policy, slidingWindow } from "../../src/entries/index.ts";
import { seeds } from "../harness/seeds.ts";
import { Random } from "../simulator/world/random.ts";

const { first, count } = seeds(300);
const CLOCK = { clock: () => 1e12 };

test.each([
  ["cost 2", 12, 3, () => 2, 6],
  ["costs 1 and 2 in turn", 100, 3, (i: number) => 1 + (i % 2), 67],
  ["cost 3, lease 5", 100, 5, () => 3, 33],
  ["cost 6, lease 10", 120, 10, () => 6, 20],
  ["a lease above the limit", 10, 100, () => 3, 3],
] as const)("every permit can be used: %s", async (_, limit, permits, costOf, calls) => {
  const options = { name: "l", lease: { permits, for: "1s" } } as const;
  const limiter = new Limiter(memoryStore(CLOCK), [fixedWindow({ limit, span: "1h" })], options);
  let passed = 0;
  for (let i = 0; i < 200; i++) if ((await limiter.take("u", { cost: costOf(passed) })).allowed) passed++;
  expect(passed).toBe(calls);
});

test(`in one process it passes exactly the calls that pass without a lease (${count} programs from seed ${first})`, async () => {
  for (let seed = first; seed < first + count; seed++) {
    const random = new Random(seed);
    const policies: Policy[] = [fixedWindow({ limit: random.int(0, 60), span: "1h" })];
    if (random.chance(0.4)) policies.push(slidingWindow({ limit: random.int(1, 60), span: "1h" }));
    const lease = { permits: random.int(1, 20), for: "1s" } as const;
    const leased = new Limiter(memoryStore(CLOCK), policies, { name: "l", lease });
    const plain = new Limiter(memoryStore(CLOCK), policies, { name: "l" });
    const ids = ["a", "b"];
    for (let i = 0; i < 60; i++) {
      const [id, cost] = [random.pick(ids), random.int(1, 8)];
      const [one, other] = [await leased.take(id, { cost }), await plain.take(id, { cost })];
      expect([one.allowed, one.granted], `seed ${seed}, call ${i}, cost ${cost}`).toEqual([
        other.allowed,
        other.granted,
      ]);
      if (random.chance(0.02)) await Promise.all([leased.reset(id), plain.reset(id)]);
    }
  }
});

test("calls made at once, and calls beside a reset, never pass more than the limit", async () => {
  for (let seed = first; seed < first + count / 3; seed++) {
    const random = new Random(seed);
    const limit = random.int(5, 60);
    const store = memoryStore(CLOCK);
    const lease = { permits: random.int(1, 20), for: "1s" } as const;
    const limiters = [0, 1].map(() => new Limiter(store, [fixedWindow({ limit, span: "1h" })], { name: "l", lease }));
    let passed = 0;
    for (let turn = 0; turn < 10; turn++) {
      const calls = Array.from({ length: random.int(1, 10) }, async () => {
        const cost = random.int(1, 8);
        if ((await random.pick(limiters).take("a", { cost })).allowed) passed += cost;
      });
      await Promise.all(calls);
    }
    expect(passed, `seed ${seed}`).toBeLessThanOrEqual(limit);
  }
});

test("what was fetched under other policies is not used", async () => {
  let limit = 100;
  const policies = () => [fixedWindow({ limit, span: "1h" })];
  const limiter = new Limiter(memoryStore(CLOCK), policies, { name: "l", lease: { permits: 20, for: "1s" } });
  expect((await limiter.take("u")).allowed).toBe(true);
  limit = 0;
  for (let i = 0; i < 5; i++) expect((await limiter.take("u")).allowed).toBe(false);
});
