import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { concurrency, type Decision, Limiter, type Policy, slidingWindow } from "../../src/entries/index.ts";
import { type OpenStore, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { Random } from "../simulator/world/random.ts";
import { KINDS, type Kind } from "./contract/oracle.ts";
import { randomTerms } from "./contract/trace.ts";

const stores = { memory: onMemory, redis: () => onRedis(), cluster: () => onRedis(true) };

interface Turn {
  waitMs: number;
  /** Costs of the calls of one turn, in order. */
  costs: number[];
}

const turns = fc.array(
  fc.record({
    waitMs: fc.constantFrom(0, 1, 9, 50, 100, 250, 1000, -3),
    costs: fc.array(fc.constantFrom(1, 1, 1, 1, 0, 2, 5), { minLength: 1, maxLength: 12 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const mixes = fc.tuple(fc.nat(), fc.array(fc.constantFrom<Kind>(...KINDS), { minLength: 1, maxLength: 3 }));

function policiesOf([seed, kinds]: [number, Kind[]]): Policy[] {
  const random = new Random(seed);
  return kinds.map((kind, i) => ({
    ...randomTerms(kind, random).policy,
    name: `p${i}`,
    isShadow: random.chance(0.25),
  }));
}

/** Permits are random: what matters is whether there is one. */
const plain = (decision: Decision) => ({ ...decision, permit: decision.permit !== undefined });

describe.each(Object.keys(stores) as (keyof typeof stores)[])("%s", (name) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await stores[name]();
  });
  afterAll(() => opened?.close());

  test("calls of one turn get the answers of sequential calls", async () => {
    await fc.assert(
      fc.asyncProperty(mixes, turns, async (mix, all: Turn[]) => {
        await opened.clear();
        const policies = policiesOf(mix);
        const together = new Limiter(opened.store, policies, { name: "together" });
        const single = new Limiter(opened.store, policies, { name: "single" });
        for (const { waitMs, costs } of all) {
          opened.clock.nowMs += waitMs;
          const found = await Promise.all(costs.map((cost) => together.take("id", { cost })));
          for (const [i, cost] of costs.entries())
            expect(plain(found[i]!)).toEqual(plain(await single.take("id", { cost })));
        }
      }),
      { numRuns: name === "memory" ? 400 : 40 },
    );
  });

  test("each caller in a turn has a permit of its own", async () => {
    await opened.clear();
    const limiter = new Limiter(opened.store, [concurrency({ limit: 300, lease: "1m" })], { name: "pool" });
    const taken = await Promise.all(Array.from({ length: 301 }, () => limiter.take("id")));
    const permits = taken.flatMap(({ permit }) => permit ?? []);
    expect(new Set(permits).size).toBe(300);
    await Promise.all(permits.slice(0, 120).map((permit) => limiter.release("id", permit)));
    expect(await limiter.peek("id")).toMatchObject({ allowed: true, remaining: 120 });
  });

  test("a thousand ids in one turn stay separate", async () => {
    await opened.clear();
    const limiter = new Limiter(opened.store, [slidingWindow({ limit: 3, span: "1m" })], { name: "many" });
    const taken = await Promise.all(Array.from({ length: 4000 }, (_, i) => limiter.take(`id${i % 1000}`)));
    expect(taken.map(({ allowed }) => allowed)).toEqual(Array.from({ length: 4000 }, (_, i) => i < 3000));
  });
});
