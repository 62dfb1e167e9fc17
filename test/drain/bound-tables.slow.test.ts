import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CountersDoctor } from "../../src/counters/drain/doctor.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import type { DivergedShards } from "../../src/counters/drain/events.ts";
import { Counters, type Store } from "../../src/entries/index.ts";
import { TableSink } from "../fuzz/table-sink.ts";
import { type MatrixStore, overMatrix } from "../matrix/open.ts";

/** The store of another deployment: its keys are others. */
function elsewhere(store: Store): Store {
  const keyOf = (name: string) => store.keyOf(`elsewhere:${name}`);
  const get = (target: Store, member: keyof Store) => {
    const own = target[member];
    return member === "keyOf" ? keyOf : typeof own === "function" ? own.bind(target) : own;
  };
  return new Proxy(store, { get } as ProxyHandler<Store>);
}

/** A counter with its drain, as one deployment has them. */
function deployment({ clock, modes }: MatrixStore, store: Store, sink: TableSink) {
  const counters = new Counters(store, "flow", { ...modes, dimensions: ["page"], shards: 1 });
  const diverged: DivergedShards[] = [];
  const drain = new DrainService({ counters, sink });
  drain.on("diverged", (event) => diverged.push(event));
  return {
    counters,
    diverged,
    doctor: new CountersDoctor(counters, sink),
    async count(times: number) {
      for (let i = 0; i < times; i++) {
        clock.nowMs += 1000;
        await counters.add({ page: "p" });
        await drain.drainOnce();
      }
    },
    total: async () => (await counters.read({ table: sink })).reduce((sum, { count }) => sum + count, 0),
  };
}

overMatrix("counters", (name, open) =>
  describe(`tables of counters, ${name}`, () => {
    let one: MatrixStore;
    let two: Store;
    beforeAll(async () => {
      one = await open();
      two = elsewhere(one.store);
    });
    beforeEach(() => one.clear());
    afterAll(() => one?.close());

    // The second one has fewer, as many and more generations than the table.
    test.each([1, 3, 5])(
      "a second counter is not drained into a table, after %i generations of its own",
      async (own) => {
        const [table, other] = [new TableSink(), new TableSink()];
        const first = deployment(one, one.store, table);
        const second = deployment(one, two, other);
        await first.count(2);
        await second.count(own);
        await first.count(1);
        const moved = deployment(one, two, table);
        await moved.count(1);
        expect(moved.diverged[0]?.reason).toMatch(own <= 3 ? /another counter/ : /the store offers generation 6/);
        await expect(moved.total()).rejects.toMatchObject({ code: "DIVERGED" });
        const [found] = await moved.doctor.diagnose();
        if (own <= 3)
          expect(found).toMatchObject({ verdict: "other-counter", note: expect.stringContaining("another counter") });
        else expect(found).toMatchObject({ verdict: "table-behind" });
        expect((await moved.doctor.repair({ inDoubt: "keep" })).map(({ isRepaired }) => isRepaired)).toEqual([false]);
        await first.count(2);
        expect(await first.total()).toBe(5);
        expect(first.diverged).toEqual([]);
      },
    );

    test("a counter is not drained into a second table, and goes on with the first", async () => {
      const [table, second] = [new TableSink(), new TableSink()];
      const first = deployment(one, one.store, table);
      await first.count(2);
      const moved = deployment(one, one.store, second);
      await moved.count(1);
      expect(moved.diverged).toMatchObject([
        { state: "table-behind", reason: expect.stringContaining("another table") },
      ]);
      const [found] = await moved.doctor.diagnose();
      expect(found).toMatchObject({ verdict: "table-behind", note: expect.stringContaining("another table") });
      await first.count(1);
      expect(await first.total()).toBe(4);
    });

    test("after a loss was repaired, the counter goes on in its table, and so it does after the other one is gone", async () => {
      const table = new TableSink();
      const first = deployment(one, one.store, table);
      await first.count(3);
      await one.clear();
      one.clock.nowMs += 1000;
      const again = deployment(one, one.store, table);
      await again.count(1);
      expect(again.diverged).toMatchObject([{ state: "store-behind" }]);
      expect(await again.doctor.repair()).toMatchObject([{ before: { verdict: "lost" }, isRepaired: true }]);
      const repaired = deployment(one, one.store, table);
      expect(await repaired.total()).toBe(4);
      await repaired.count(2);
      expect(await repaired.total()).toBe(6);
      expect(repaired.diverged).toEqual([]);

      const second = deployment(one, two, new TableSink());
      await second.count(1);
      await repaired.count(1);
      const moved = deployment(one, two, table);
      await moved.count(1);
      expect(await moved.doctor.repair()).toMatchObject([{ before: { verdict: "other-counter" }, isRepaired: false }]);
      expect(await moved.doctor.repair({ otherIsGone: true })).toMatchObject([{ isRepaired: true }]);
      await moved.count(1);
      expect(await moved.total()).toBe(9);
    });
  }),
);
