import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readWindow, writeWindow } from "../../src/engine/locked-window/steps.ts";
import { runs } from "../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../series/contract/stores.ts";

const mark = fc.record({ fence: fc.integer({ min: 0, max: 4 }), nonce: fc.integer({ min: 1, max: 2 }) });
const spanMs = fc.constantFrom(1, 50, 5000);
const events = fc.nat(4);
const step = fc.oneof(
  fc.record({
    kind: fc.constant("read" as const),
    mark: fc.oneof(fc.constant({ fence: 0, nonce: 0 }), mark),
    maxBytes: fc.constantFrom(0, 24, 1000),
    spanMs,
  }),
  fc.record({ kind: fc.constant("write" as const), mark, events, byte: fc.nat(255), spanMs }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 2, 100, 101, 20_000) }),
);

const KEY = "sw_counter_bytes:{twin}";

async function play({ store, clock }: OpenStore, one: typeof step extends fc.Arbitrary<infer T> ? T : never) {
  if (one.kind === "wait") {
    clock.nowMs += one.ms;
    return undefined;
  }
  try {
    if (one.kind === "read") {
      const { nowMs, times, values } = await store.run(readWindow, KEY, one);
      return { nowMs, times: [...times], values: [...values] };
    }
    const times = new Uint8Array(8 * one.events).fill(one.byte);
    return await store.run(writeWindow, KEY, { ...one, times, values: new Uint8Array(4 * one.events) });
  } catch (error) {
    const { code, applied, transient, message } = error as Record<string, unknown>;
    return { code, applied, transient, message };
  }
}

let opened: OpenStore[];
beforeAll(async () => {
  opened = await Promise.all([onMemory(), onRedis6()]);
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

test("memory and Redis have the same answers to random reads and writes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      opened[1]!.clock.nowMs = opened[0]!.clock.nowMs;
      for (const one of steps) {
        const [memory, redis] = await Promise.all(opened.map((each) => play(each, one)));
        expect(redis).toEqual(memory);
        const there = await Promise.all(opened.map(async (each) => (await each.keys()).includes(KEY)));
        expect(there[1]).toBe(there[0]);
        if (there[0]) expect(await opened[1]!.expiryOf(KEY)).toBe(await opened[0]!.expiryOf(KEY));
      }
    }),
    { numRuns: runs(150) },
  );
});
