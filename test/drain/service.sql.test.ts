import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import type { Sink } from "../../src/entries/sql.ts";
import { Lock } from "../../src/holds/lock/lock.ts";
import { type OpenStore, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { Random } from "../simulator/world/random.ts";
import { expectInTable, produced, sumOf } from "./exactness.ts";
import { dying, failing } from "./faulty.ts";
import { STAGES, type Stage } from "./stages.ts";

const dimensions = ["site", "lane"];
const SHARDS = 4;
const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
let names = 0;

const stores = { memory: onMemory, Redis: () => onRedis(), "a cluster": () => onRedis(true) };
describe.each([
  ["memory", "SQLite"],
  ["Redis", "PostgreSQL"],
  ["a cluster", "MariaDB"],
] as const)("a drain from %s into %s", (from, into) => {
  const random = new Random(seed);
  let opened: OpenStore;
  let stage: Stage;
  let name: string;
  let sink: Sink;
  beforeAll(async () => {
    [opened, stage] = await Promise.all([stores[from](), STAGES[into]!()]);
  });
  beforeEach(async () => {
    await opened.clear();
    name = `flow ${++names}`;
    sink = stage.sink({ table: `flow_${names}`, ledgerTable: `ledger_${names}` });
    await sink.createTables({ name, dimensions, buckets: ["minute", "hour", "day"] });
  });
  afterEach(() => opened.clear());
  afterAll(async () => {
    await Promise.all([opened?.close(), stage?.stop()]);
  });

  const counters = (store = opened.store) => new Counters(store, name, { dimensions, shards: SHARDS });
  const produce = (flow: Counters, events: number) => produced(random, flow, events);
  const expectExact = (flow: Counters, all: bigint) => expectInTable(flow, sink, all, `seed ${seed}`);

  test("moves all counts into the table, and later ones into the same rows", async () => {
    const flow = counters();
    const service = new DrainService({ counters: flow, sink });
    expect(await service.drainOnce()).toMatchObject({ drained: 0, failed: 0, events: 0n });
    let all = await produce(flow, 200);
    await expectExact(flow, all);
    expect(await service.drainOnce()).toMatchObject({ failed: 0, diverged: 0, events: all });
    await expectExact(flow, all);
    expect(await flow.read()).toEqual([]);
    const more = await produce(flow, 50);
    all += more;
    await expectExact(flow, all);
    expect(await service.drainOnce()).toMatchObject({ events: more });
    expect(await service.drainOnce()).toMatchObject({ drained: 0, events: 0n });
    await expectExact(flow, all);
  });

  test("drainOnce drains the counts acknowledged before it, also while a cycle is running", async () => {
    const flow = counters();
    const add = (count: number) => flow.add({ site: "S1", lane: "1" }, { count, at: new Date(opened.clock.nowMs) });
    let later: Promise<bigint[]> | undefined;
    const meanwhile: Sink = {
      ...sink,
      async apply(...args) {
        if (!later) {
          await add(7); // to the shard that the running cycle is about to finish
          later = Promise.all([1, 2].map(async () => (await service.drainOnce()).events));
        }
        return sink.apply(...args);
      },
    };
    const service = new DrainService({ counters: flow, sink: meanwhile });
    await add(5);
    expect(await service.drainOnce()).toMatchObject({ events: 5n });
    expect(await later).toEqual([7n, 7n]); // both callers share the next cycle
    const { rows } = await sink.read(flow.shape, { bucket: "day" });
    expect(sumOf(rows)).toBe(12n);
  });

  test(`deaths at any step, lost answers and two drains at once change no total (seed ${seed})`, async () => {
    const flow = counters();
    const diverged: unknown[] = [];
    let all = 0n;
    const drains = Array.from({ length: 3 }, () => {
      const dies = () => (random.chance(0.08) ? random.pick(["before", "after"] as const) : undefined);
      const service = new DrainService({
        counters: counters(dying(opened.store, dies)),
        sink: failing(
          sink,
          () => random.chance(0.1),
          () => random.chance(0.1),
        ),
      });
      service.on("diverged", (reported) => void diverged.push(reported));
      return service;
    });
    for (let round = 0; round < 12; round++) {
      const [added] = await Promise.all([produce(flow, 40), ...drains.map((drain) => drain.drainOnce())]);
      all += added;
      await expectExact(flow, all);
    }
    const last = new DrainService({ counters: flow, sink });
    last.on("diverged", (reported) => void diverged.push(reported));
    await last.drainOnce();
    await last.drainOnce();
    expect(diverged).toEqual([]);
    expect(sumOf(await flow.read({ bigint: true }))).toBe(0n);
    await expectExact(flow, all);
  });

  test("readers see every event once during drains", async () => {
    const flow = counters();
    const service = new DrainService({ counters: flow, sink });
    let acknowledged = 0n;
    let isOver = false;
    const draining = (async () => {
      while (!isOver) await service.drainOnce();
    })();
    for (let round = 0; round < 15; round++) {
      acknowledged += await produce(flow, 20);
      expect(sumOf(await flow.read({ table: sink, bigint: true }))).toBe(acknowledged);
    }
    isOver = true;
    await draining;
    await expectExact(flow, acknowledged);
  });

  test("a flushed store and a restored table are reported and do not change", async () => {
    const flow = counters();
    const reported: string[] = [];
    const watch = (service: DrainService) =>
      service.on("diverged", ({ shards, reason }) => void reported.push(...shards.map(() => reason)));
    await produce(flow, 100);
    const service = new DrainService({ counters: flow, sink });
    watch(service);
    await service.drainOnce();
    await opened.clear();
    const again = counters();
    const left = await produce(again, 100);
    const report = await service.drainOnce();
    expect(report).toMatchObject({ drained: 0, diverged: SHARDS });
    expect(reported).toHaveLength(SHARDS);
    expect(sumOf(await again.read({ bigint: true }))).toBe(left);
    expect((await service.drainOnce()).diverged).toBe(SHARDS);
  });

  test("a restored table is reported even for shards without new events", async () => {
    const flow = counters();
    await produce(flow, 100);
    await new DrainService({ counters: flow, sink }).drainOnce();
    const other = stage.sink({ table: `flow_${names}b`, ledgerTable: `ledger_${names}b` });
    await other.createTables(flow.shape);
    const service = new DrainService({ counters: flow, sink: other });
    const reported: number[] = [];
    service.on("diverged", ({ shards }) => void reported.push(...shards));
    await service.drainOnce();
    expect(reported.sort()).toEqual([0, 1, 2, 3]);
    await expect(flow.read({ table: other })).rejects.toMatchObject({ code: "DIVERGED" });
  });

  test("one of two drains leads by a lock; the ledger refuses a stale leader", async () => {
    const flow = counters();
    const lock = () => new Lock(opened.store, "drain");
    const [one, two] = [lock(), lock()].map((each) => new DrainService({ counters: flow, sink, lock: each }));
    const held = await lock().tryLock({ lease: 60_000 });
    await expect(one!.drainOnce()).rejects.toMatchObject({ code: "UNAVAILABLE", transient: true });
    await held!.release();
    const all = await produce(flow, 30);
    await one!.drainOnce();
    await two!.drainOnce();
    await expectExact(flow, all);
    const [ledger] = await sink.ledger(flow.shape);
    const stale = {
      shard: ledger!.shard,
      generation: ledger!.generation + 1,
      nonce: "x",
      fence: 1,
      events: 0n,
      rows: [],
    };
    expect(await sink.apply(flow.shape, stale)).toMatchObject({ status: "superseded" });
  });

  test("start creates tables and drains; a tick during a cycle is skipped; stop waits for the cycle", async () => {
    const flow = counters();
    const fresh = stage.sink({ table: `flow_${names}c`, ledgerTable: `ledger_${names}c` });
    let slowly = 0;
    const slow: Sink = {
      ...fresh,
      async apply(...args) {
        slowly++;
        await new Promise((resolve) => setTimeout(resolve, 60));
        return fresh.apply(...args);
      },
    };
    const service = new DrainService({ counters: flow, sink: slow, every: 10, lock: new Lock(opened.store, "drain") });
    const reported = { cycle: 0, skipped: 0, shard: 0 };
    for (const event of ["cycle", "skipped", "shard"] as const) service.on(event, () => void reported[event]++);
    const all = await produce(flow, 30);
    await service.start();
    await expect.poll(() => reported.skipped).toBeGreaterThan(0);
    await service.stop();
    expect(slowly).toBeGreaterThan(0);
    expect(reported.shard).toBe(slowly);
    const { rows } = await fresh.read(flow.shape, { bucket: "day" });
    expect(sumOf(rows)).toBe(all);
    const cycles = reported.cycle;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(reported.cycle).toBe(cycles);
  });
});
