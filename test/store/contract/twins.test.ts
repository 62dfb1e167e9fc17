import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../src/store/contract.ts";
import { runs } from "../../harness/runs.ts";
import { append, count, move, remove, tally } from "../ops/operations.ts";
import { clients } from "./clients.ts";
import { onMemory, onRedis } from "./on-one.ts";
import type { OpenStore } from "./on-servers.ts";

const name = fc.constantFrom("a", "b", "{", "");
const step = fc.oneof(
  fc.record({
    kind: fc.constant("append" as const),
    name,
    bytes: fc.uint8Array({ maxLength: 12 }),
    maxBytes: fc.integer({ min: 0, max: 30 }),
    lifetimeMs: fc.constantFrom(0, 1, 50, 5000),
  }),
  fc.record({ kind: fc.constant("tally" as const), name, id: fc.constantFrom("0001", "0002", "0003") }),
  fc.record({
    kind: fc.constant("count" as const),
    name,
    amount: fc.constantFrom(0, 1, 7),
    most: fc.constantFrom(9, 99),
  }),
  fc.record({ kind: fc.constant("move" as const), name }),
  fc.record({ kind: fc.constant("remove" as const), name }),
  fc.record({ kind: fc.constant("wait" as const), name, ms: fc.constantFrom(1, 49, 50, 51, 6000) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function play({ store, clock }: OpenStore, each: Step): Promise<unknown> {
  const key = store.keyOf(each.name);
  if (each.kind === "wait") {
    clock.nowMs += each.ms;
    return undefined;
  }
  try {
    return each.kind === "remove" ? Buffer.from(await store.run(remove, key, undefined)) : await run(store, key, each);
  } catch (error) {
    const { code, applied, transient } = error as { code: string; applied: string; transient: boolean };
    return { code, applied, transient };
  }
}

function run(store: Store, key: string, each: Step): Promise<unknown> {
  if (each.kind === "append") return store.run(append, key, each);
  if (each.kind === "tally") return store.run(tally, key, each.id);
  if (each.kind === "count") return store.run(count, `${key}:2`, each);
  return store.run(move, key, undefined);
}

let opened: OpenStore[];
beforeAll(async () => {
  opened = await Promise.all([onMemory(), onRedis(clients["ioredis 6"])()]);
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

test("random sequences have equal replies, bytes and expiries in memory and in Redis", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      opened[1]!.clock.nowMs = opened[0]!.clock.nowMs;
      for (const each of steps) {
        const [memory, redis] = await Promise.all(opened.map((one) => play(one, each)));
        expect(redis).toEqual(memory);
        const key = opened[0]!.store.keyOf(each.name);
        for (const looked of [key, `${key}:1`, `${key}:2`]) {
          const [inMemory, inRedis] = await Promise.all(opened.map((one) => one.state(looked)));
          expect(inRedis).toEqual(inMemory);
        }
      }
    }),
    { numRuns: runs(60) },
  );
});
