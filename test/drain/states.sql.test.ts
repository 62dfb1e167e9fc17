import { expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import { CountersDoctor } from "../../src/counters/drain/doctor.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import type { DivergedShards, DrainFailure } from "../../src/counters/drain/events.ts";
import { memoryStore } from "../../src/entries/memory-store.ts";
import { STAGES } from "./stages.ts";

test("64 shards that fail and diverge for 40 s are reported once per change, and once when they recover", async () => {
  const clock = { nowMs: Date.UTC(2026, 0, 31) };
  const store = memoryStore({ clock: () => clock.nowMs });
  const stage = await STAGES.SQLite!();
  const real = stage.sink();
  let isDown = false;
  const apply: typeof real.apply = (...call) => (isDown ? Promise.reject(new Error("down")) : real.apply(...call));
  const sink = { ...real, apply };
  const flow = new Counters(store, "flow", { dimensions: ["id"] });
  const drain = new DrainService({ counters: flow, sink });
  const diverged: DivergedShards[] = [];
  const errors: DrainFailure[] = [];
  const recovered: number[][] = [];
  drain.on("diverged", (event) => void diverged.push(event));
  drain.on("error", (event) => void errors.push(event));
  drain.on("recovered", ({ shards }) => void recovered.push(shards));
  const cycles = async (count: number) => {
    for (let i = 0; i < count; i++) {
      for (let id = 0; id < 500; id++) flow.add({ id: `${id}` }).catch(() => {}); // LOST, after the flush
      await drain.drainOnce();
      clock.nowMs += 10_000;
    }
  };
  try {
    await sink.createTables(flow.shape);
    await cycles(2);
    isDown = true;
    await cycles(4);
    isDown = false;
    await cycles(1);
    expect(errors).toMatchObject([{ shards: expect.arrayContaining([0, 63]), shard: 0 }]);
    expect(errors[0]!.shards).toHaveLength(64);
    expect(recovered).toEqual([[...Array(64).keys()]]);
    store.clear();
    await cycles(4);
    expect(diverged).toHaveLength(1);
    expect(diverged[0]).toMatchObject({ state: "store-behind", runbook: "docs/runbook/counter-behind-its-table.md" });
    expect(diverged[0]!.shards).toHaveLength(64);
    await new CountersDoctor(flow, sink).repair();
    clock.nowMs += 60_000;
    await cycles(1);
    expect(recovered).toHaveLength(2);
    expect([diverged.length, errors.length]).toEqual([1, 1]);
  } finally {
    await stage.stop();
  }
});

test("a cycle that exceeds its time-out gives up its remaining work, and the next one does it", async () => {
  const stage = await STAGES.SQLite!();
  const real = stage.sink();
  let hangs = true;
  const apply: typeof real.apply = (shape, batch, limits) =>
    hangs
      ? new Promise((_, reject) => limits!.signal!.addEventListener("abort", () => reject(limits!.signal!.reason)))
      : real.apply(shape, batch, limits);
  const flow = new Counters(memoryStore(), "flow", { dimensions: ["id"], shards: 1 });
  const drain = new DrainService({ counters: flow, sink: { ...real, apply }, cycleTimeout: "50ms" });
  const errors: DrainFailure[] = [];
  drain.on("error", (event) => void errors.push(event));
  try {
    await real.createTables(flow.shape);
    await flow.add({ id: "a" }, { count: 7 });
    expect(await drain.drainOnce()).toMatchObject({ drained: 0, failed: 1 });
    expect(errors).toMatchObject([{ shards: [0], error: { code: "DEADLINE", transient: true } }]);
    hangs = false;
    expect(await drain.drainOnce()).toMatchObject({ drained: 1, failed: 0, events: 7n });
  } finally {
    await stage.stop();
  }
});

test("a flushed store that offers a generation of the table's number says what differs", async () => {
  const store = memoryStore();
  const stage = await STAGES.SQLite!();
  const sink = stage.sink();
  const flow = new Counters(store, "flow", { dimensions: ["id"], shards: 1 });
  const drain = new DrainService({ counters: flow, sink });
  const diverged: DivergedShards[] = [];
  drain.on("diverged", (event) => void diverged.push(event));
  try {
    await sink.createTables(flow.shape);
    await flow.add({ id: "a" }, { count: 7 });
    await drain.drainOnce();
    store.clear();
    await new Counters(store, "flow", { dimensions: ["id"], shards: 1 }).add({ id: "a" });
    await drain.drainOnce();
    expect(diverged.map(({ reason, state }) => `${state}: ${reason}`)).toEqual([
      "store-behind: generation 1 of the ledger and generation 1 of the store are different (their nonces differ)",
    ]);
  } finally {
    await stage.stop();
  }
});
