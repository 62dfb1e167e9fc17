import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import type { DrainOptions } from "../../src/counters/drain/options.ts";
import type { Sink } from "../../src/entries/sql.ts";
import { Lock } from "../../src/holds/lock/lock.ts";
import { type MatrixStore, overMatrix } from "../matrix/open.ts";
import { Random } from "../simulator/world/random.ts";
import { expectInTable, produced, sumOf } from "./exactness.ts";
import { dying, failing } from "./faulty.ts";
import { STAGES, type Stage } from "./stages.ts";

const dimensions = ["site", "lane"];
const SHARDS = 2;
const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
let names = 0;

/** Started when they are first wanted, for all rows. One that did not start is tried again by the next row. */
const stages = new Map<string, Promise<Stage>>();
function stageOf(into: string): Promise<Stage> {
  let stage = stages.get(into);
  if (!stage) {
    stage = STAGES[into]!();
    stages.set(into, stage);
    stage.catch(() => stages.delete(into));
  }
  return stage;
}
afterAll(async () => {
  for (const stage of stages.values()) await (await stage).stop();
});

overMatrix("drain", (row, open, { modes }) =>
  describe(`a drain: ${row}`, () => {
    const { sink: into, ...options } = modes as { sink: string } & Partial<DrainOptions>;
    const random = new Random(seed);
    let opened: MatrixStore;
    let stage: Stage;
    let sink: Sink;
    let name: string;
    beforeAll(async () => {
      // One after the other: what a half-failed start has opened would not be closed.
      stage = await stageOf(into);
      opened = await open();
    });
    beforeEach(async () => {
      await opened.clear();
      name = `flow ${++names}`;
      sink = stage.sink({ table: `flow_${names}`, ledgerTable: `ledger_${names}` });
      await sink.createTables({ name, dimensions, buckets: ["minute", "hour", "day"] });
    });
    afterAll(() => opened?.close());

    const counters = (store = opened.store) => new Counters(store, name, { dimensions, shards: SHARDS });
    const drain = (flow: Counters, more: Partial<DrainOptions> = {}) =>
      new DrainService({ counters: flow, sink, ...options, ...more });
    const expectExact = (flow: Counters, all: bigint) => expectInTable(flow, sink, all, `seed ${seed}`);

    test(`every event reaches the table once, through deaths at any step and lost answers (seed ${seed})`, async () => {
      const flow = counters();
      const diverged: unknown[] = [];
      const dies = () => (random.chance(0.1) ? random.pick(["before", "after"] as const) : undefined);
      const fails = () => random.chance(0.1);
      const drains = Array.from({ length: 2 }, () =>
        drain(counters(dying(opened.store, dies)), { sink: failing(sink, fails, fails) }),
      );
      const last = drain(flow);
      for (const each of [...drains, last]) each.on("diverged", (reported) => void diverged.push(reported));
      let all = 0n;
      for (let round = 0; round < 3; round++) {
        const [added] = await Promise.all([produced(random, flow, 30), ...drains.map((each) => each.drainOnce())]);
        all += added;
      }
      await expectExact(flow, all);
      for (let i = 0; i < 2; i++) expect(await last.drainOnce()).toMatchObject({ failed: 0, diverged: 0 });
      expect([diverged, await flow.read()]).toEqual([[], []]);
      await expectExact(flow, all);
    });

    test("a flushed store is reported as diverged, and does not change", async () => {
      await produced(random, counters(), 20);
      const service = drain(counters(), { lock: new Lock(opened.store, "drain") });
      const reported: number[] = [];
      service.on("diverged", ({ shards }) => void reported.push(...shards));
      expect(await service.drainOnce()).toMatchObject({ drained: SHARDS, failed: 0 });
      await opened.clear();
      const again = counters();
      const left = await produced(random, again, 20);
      expect(await service.drainOnce()).toMatchObject({ drained: 0, diverged: SHARDS });
      expect([reported.sort(), sumOf(await again.read({ bigint: true }))]).toEqual([[0, 1], left]);
      await expect(again.read({ table: sink })).rejects.toMatchObject({ code: "DIVERGED" });
    });

    test("one of two drains leads by a lock", async () => {
      const flow = counters();
      const lock = () => new Lock(opened.store, "drain");
      const held = await lock().tryLock({ lease: 60_000 });
      const all = await produced(random, flow, 10);
      const service = drain(flow, { lock: lock() });
      await expect(service.drainOnce()).rejects.toMatchObject({ code: "UNAVAILABLE", transient: true });
      await held!.release();
      await service.drainOnce();
      expect((await sink.ledger(flow.shape))[0]!.fence).toBeGreaterThan(0);
      await expectExact(flow, all);
    });
  }),
);
