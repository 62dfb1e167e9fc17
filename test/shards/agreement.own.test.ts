// In Workers a request may end at any time, and what it has begun then never settles.
import { expect, test, vi } from "vitest";
import type { Store } from "../../src/store/contract.ts";

// Modules that were loaded before looked at another navigator.
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { userAgent: "Cloudflare-Workers" } });
vi.resetModules();
const { memoryStore, ShardedSeries } = await import("../../src/entries/index.ts");

const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Settles as `promise` does, if it does so within some turns of the event loop. */
const soon = <T>(promise: Promise<T>) => Promise.race([promise, turns(200).then(() => "hangs" as const)]);

/** A server whose answers come a turn later. Those of the next `lost` calls that agree never come. */
function server() {
  const state = { lost: 0, goneMs: 0 };
  const beganMs = Date.now();
  const memory = memoryStore({ registry: false, clock: () => beganMs + state.goneMs });
  const store: Store = {
    ...memory,
    monotonic: () => state.goneMs,
    leaseClock: () => state.goneMs,
    address: "https://elsewhere",
    async run(operation, ...rest) {
      await turns(1);
      if (operation.name === "shards/agree" && state.lost > 0) {
        state.lost--;
        return new Promise<never>(() => {});
      }
      return memory.run(operation, ...rest);
    },
  };
  return { store, state, beganMs };
}

test("a request that ended while it noted the spread holds up no other", async () => {
  const { store, state } = server();
  const series = new ShardedSeries(store, "s", { shards: 2 });
  state.lost = 1;
  void series.record(1);
  await turns(20);
  expect(await soon(series.record(2))).toEqual({ degraded: false });
  expect((await series.stats()).count).toBe(1);
});

test("a request that ended while it read the list holds up no other", async () => {
  const { store, state } = server();
  const series = new ShardedSeries(store, "s", { shards: 2 });
  state.lost = 1;
  void series.stats();
  expect(await soon(series.stats())).toMatchObject({ count: 0 });
});

test("a spread that a request could not renew is renewed by the next one", async () => {
  const { store, state } = server();
  const series = new ShardedSeries(store, "s", { shards: 2 });
  await series.record(0);
  state.goneMs += 25_000;
  state.lost = 1;
  await series.record(1);
  for (let i = 0; i < 70; i++) {
    state.goneMs += 30_000;
    expect(await soon(series.record(2))).toEqual({ degraded: false });
  }
});

test("with clock event each request that records has its answer", async () => {
  const { store, beganMs } = server();
  const series = new ShardedSeries(store, "s", { shards: 2, clock: "event" });
  expect(await soon(series.recordAndGet(0, { at: beganMs }))).toMatchObject({ count: 1 });
  const answers = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      await turns(i);
      return soon(series.recordAndGet(i, { at: beganMs + i }));
    }),
  );
  for (const answer of answers) expect(answer).toMatchObject({ from: expect.any(Number) });
  expect((await series.stats()).count).toBe(7);
});
