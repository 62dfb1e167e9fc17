import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FENCE_LIFE_MS, FOREIGN_POLL_MS } from "../../../src/generated/layouts/lock.ts";
import { acquire } from "../../../src/lock/steps/acquire.ts";
import { extend } from "../../../src/lock/steps/extend.ts";
import { inspect } from "../../../src/lock/steps/inspect.ts";
import { fenceKeyOf, lockKeyOf, queueKeyOf } from "../../../src/lock/steps/keys.ts";
import { leave } from "../../../src/lock/steps/leave.ts";
import { release } from "../../../src/lock/steps/release.ts";
import { runs } from "../../harness/runs.ts";
import { type OpenStore, onMemory, stores } from "./stores.ts";

const token = fc.constantFrom("oriel:a", "oriel:b", "a stranger's");
const ids = ["a", "b", "c"].map((each) => each.repeat(16));
const id = fc.constantFrom("", ...ids);
const leaseMs = fc.constantFrom(10, 50, 1000, 60_000, 2 ** 31 - 1);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("acquire" as const), token, leaseMs, id }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("extend" as const), token, leaseMs }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("release" as const),
      token,
      id,
      isNext: fc.boolean(),
      isForced: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 49, 50, 51, 151, 1001) }),
  },
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(-200, 10_001, 61_000, FENCE_LIFE_MS + 1) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A reservation ends, and the clock would be set back behind its end. */
const RESERVATION_ENDED: Step[] = [
  { kind: "acquire", token: "oriel:a", leaseMs: 10, id: "" },
  { kind: "acquire", token: "oriel:b", leaseMs: 10, id: ids[1]! },
  { kind: "wait", ms: 10_001 },
  { kind: "extend", token: "oriel:a", leaseMs: 10 },
  { kind: "wait", ms: -200 },
];

function play({ store, clock }: OpenStore, key: string, one: Step, ends: Set<number>): Promise<unknown> | number {
  if (one.kind === "wait") {
    // The clock is not set back behind the end of a key. Whether the key then exists again depends on the store.
    const atMs = clock.nowMs + one.ms;
    if (one.ms > 0 || ![...ends].some((endMs) => atMs <= endMs && endMs <= clock.nowMs)) clock.nowMs = atMs;
    return clock.nowMs;
  }
  if (one.kind === "release") return store.run(release, key, one);
  if (one.kind === "leave") return store.run(leave, key, one.id || ids[0]!);
  return one.kind === "acquire" ? store.run(acquire, key, one) : store.run(extend, key, one);
}

let opened: [OpenStore, OpenStore];
beforeAll(async () => {
  opened = [await onMemory(true), await stores["redis, ioredis 6"]!(true)];
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

test("both forms of each step have equal answers, values and expiries, and fences rise", async () => {
  const [memory, redis] = opened;
  const key = lockKeyOf(memory.store, "twin");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      redis.clock.nowMs = memory.clock.nowMs;
      const ends = new Set<number>();
      let last = { token: "", fence: 0 };
      for (const one of steps) {
        const answer = await play(memory, key, one, ends);
        expect(await play(redis, key, one, ends)).toEqual(answer);
        expect(await redis.store.run(inspect, key, undefined)).toEqual(await memory.store.run(inspect, key, undefined));
        for (const each of [key, fenceKeyOf(key), queueKeyOf(key)]) {
          const state = await memory.state(each);
          expect(await redis.state(each)).toEqual(state);
          if (state) ends.add(state.expireAtMs);
        }
        if (one.kind !== "acquire" || !("fence" in (answer as object))) continue;
        const { fence } = answer as { fence: number };
        expect(Number.isSafeInteger(fence)).toBe(true);
        if (fence === last.fence) expect(one.token).toBe(last.token);
        else expect(fence).toBeGreaterThan(last.fence);
        last = { token: one.token, fence };
      }
    }),
    { numRuns: runs(300), examples: [[RESERVATION_ENDED]] },
  );
});

test.each(["memory", "redis, ioredis 6"])("%s: the fence rises when the server's clock is set back", async (name) => {
  const { store, clock, clear } = opened[name === "memory" ? 0 : 1]!;
  await clear();
  const key = lockKeyOf(store, "back");
  const fences: number[] = [];
  for (let i = 0; i < 4; i++) {
    const answer = (await store.run(acquire, key, { token: `oriel:${i}`, leaseMs: 1000, id: "" })) as { fence: number };
    fences.push(answer.fence);
    await store.run(release, key, { token: `oriel:${i}`, id: "", isNext: false });
    clock.nowMs -= 3_600_000;
  }
  clock.nowMs += 4 * 3_600_000;
  expect(fences).toEqual([0, 1, 2, 3].map((i) => fences[0]! + i));
});

test.each([
  ["text", "no number"],
  ["a fraction", "1.5"],
  ["the largest there is", "9007199254740991"],
])("a fence that cannot be raised (%s) is CORRUPT, and nothing changes", async (_what, value) => {
  const [, { store, put, state, clear }] = opened;
  await clear();
  const key = lockKeyOf(store, "bad");
  await put(fenceKeyOf(key), value);
  await expect(store.run(acquire, key, { token: "oriel:a", leaseMs: 1000, id: "" })).rejects.toMatchObject({
    code: "CORRUPT",
  });
  expect(await state(key)).toBeUndefined();
  expect(await state(fenceKeyOf(key))).toMatchObject({ value });
});

test("only the holder restores a missing expiry; another caller waits 100 ms", async () => {
  const [, { store, put, state, clock, clear }] = opened;
  await clear();
  const key = lockKeyOf(store, "persisted");
  await put(key, "oriel:a");
  expect(await store.run(acquire, key, { token: "oriel:b", leaseMs: 1000, id: "" })).toEqual({
    retryInMs: FOREIGN_POLL_MS,
  });
  expect(await state(key)).toEqual({ value: "oriel:a", expireAtMs: Number.POSITIVE_INFINITY });
  expect(await store.run(extend, key, { token: "oriel:a", leaseMs: 1000 })).toBe(true);
  expect(await state(key)).toEqual({ value: "oriel:a", expireAtMs: clock.nowMs + 1000 });
});
