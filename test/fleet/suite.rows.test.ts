import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OrielError } from "../../src/base/errors.ts";
import { FleetMetrics } from "../../src/metrics/fleet/fleet-metrics.ts";
import { MetricWindow } from "../../src/metrics/window/metric-window.ts";
import type { Store } from "../../src/store/contract.ts";
import { type MatrixStore, overMatrix } from "../matrix/open.ts";

const SHAPE = { sampleCount: 6, interval: 600, flush: "1h" } as const;
const BUCKET_MS = 100;

const numbers = (view: MetricWindow | Awaited<ReturnType<FleetMetrics["read"]>>, timeMs: number) => ({
  success: view.success(timeMs),
  failure: view.failure(timeMs),
  pass: view.allowed(timeMs),
  denied: view.denied(timeMs),
  successesPerSecond: view.successesPerSecond(timeMs),
  meanLatencyMs: view.meanLatencyMs(timeMs),
  minLatencyMs: view.minLatencyMs(timeMs),
  maxLatencyMs: view.maxLatencyMs(timeMs),
});

overMatrix("fleet", (row, open, { store }) =>
  describe(row, () => {
    let on: MatrixStore;
    let startMs: number;
    beforeAll(async () => {
      on = await open();
      startMs = on.clock.nowMs;
    });
    afterAll(() => on?.close());
    beforeEach(async () => {
      await on.clear();
      on.clock.nowMs = startMs;
    });

    const step = fc.record({
      goneMs: fc.constantFrom(0, 1, 7, 99, 100, 250, 700),
      process: fc.nat(2),
      what: fc.constantFrom("success", "failure", "allowed", "denied", "rt", "flush" as const),
      count: fc.nat(4),
      latencyMs: fc.constantFrom(0, 1, 2.5, 4000),
      name: fc.constantFrom("pay", "send"),
    });

    test.each(["exact", "sentinel"] as const)(
      "three processes together have the numbers of one window, %s",
      async (mode) => {
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
            await on.clear();
            const fleet = [0, 1, 2].map(() => new FleetMetrics(on.store, "shop", { ...SHAPE, ...on.modes, mode }));
            const window = (name: string) =>
              new MetricWindow({
                sampleCount: 6,
                interval: 600,
                mode,
                clock: () => on.clock.nowMs + 0 * name.length,
              });
            const windows = { pay: window("pay"), send: window("send") };
            for (const { goneMs, process, what, count, latencyMs, name } of steps) {
              on.clock.nowMs += goneMs;
              const metric = fleet[process]!.metric(name);
              const own = windows[name as "pay" | "send"];
              if (what === "flush") await fleet[process]!.flush();
              for (const each of [metric, own])
                if (what === "success") each.addSuccess(count);
                else if (what === "failure") each.addFailure(count);
                else if (what === "allowed") each.addAllowed(count);
                else if (what === "denied") each.addDenied(count);
                else if (what === "rt") each.recordSuccess(latencyMs);
            }
            for (const each of fleet) await each.flush();
            for (const [name, own] of Object.entries(windows))
              expect(numbers(await fleet[0]!.read(name), on.clock.nowMs)).toEqual(numbers(own, on.clock.nowMs));
          }),
          // The sums are made in the process. Over servers a program only shows that they travel.
          { numRuns: store === "memory" ? 40 : 10 },
        );
      },
    );

    test("names above the bound are counted together without a name, and reported", async () => {
      const [one, other] = [0, 1].map(
        () => new FleetMetrics(on.store, "names", { ...SHAPE, ...on.modes, maxNames: 2 }),
      );
      const reported: string[] = [];
      for (const each of [one!, other!]) each.on("other", ({ name }) => reported.push(name));
      one!.metric("a").addSuccess(1);
      one!.metric("b").addSuccess(2);
      one!.metric("c").addSuccess(4);
      one!.metric("c").addSuccess(8);
      await one!.flush();
      other!.metric("d").addSuccess(16);
      other!.metric("a").addSuccess(32);
      await other!.flush();
      expect(reported).toEqual(["c", "d"]);
      const all = await one!.readAll();
      expect([...all].map(([name, view]) => [name, view.success()])).toEqual([
        ["", 28],
        ["a", 33],
        ["b", 2],
      ]);
      expect((await one!.read("")).success()).toBe(28);
      expect((await one!.read("c")).success()).toBe(0);
    });

    test("thousands of names in one process take no more memory than the bound", async () => {
      const fleet = new FleetMetrics(on.store, "hostile", { ...SHAPE, ...on.modes, maxNames: 3 });
      let reported = 0;
      fleet.on("other", () => reported++);
      for (let i = 0; i < 5000; i++) fleet.metric(`{user}:*:${i}\u{1f600}`).addAllowed();
      await fleet.flush();
      expect(reported).toBe(3);
      const all = await fleet.readAll();
      expect(all.size).toBe(4);
      expect([...all.values()].reduce((sum, view) => sum + view.allowed(), 0)).toBe(5000);
    });

    test("counts that were not sent in time are reported as late", async () => {
      const fleet = new FleetMetrics(on.store, "late", { ...SHAPE, ...on.modes });
      const metric = fleet.metric("pay");
      metric.addSuccess();
      await fleet.flush();
      metric.addFailure(3);
      on.clock.nowMs += 600 + 2 * BUCKET_MS;
      metric.addDenied(2);
      let late = 0;
      fleet.on("late", ({ events }) => {
        late += events;
      });
      const view = await fleet.read("pay");
      expect([view.success(), view.failure(), view.denied(), late]).toEqual([0, 0, 2, 3]);
    });

    test("memory is bounded while a server never answers", async () => {
      const away: Store = { ...on.store, run: () => Promise.reject(new OrielError("UNAVAILABLE", "away")) };
      const fleet = new FleetMetrics(away, "away", { ...SHAPE, ...on.modes });
      let late = 0;
      fleet.on("late", ({ events }) => {
        late += events;
      });
      for (let i = 0; i < 100; i++) {
        fleet.metric("pay").addSuccess();
        await expect(fleet.flush()).rejects.toMatchObject({ code: "UNAVAILABLE" });
        on.clock.nowMs += BUCKET_MS;
      }
      expect(late).toBeGreaterThan(90);
    });

    test("the key expires when no window has any of its buckets", async () => {
      const fleet = new FleetMetrics(on.store, "gone", { ...SHAPE, ...on.modes });
      fleet.metric("pay").addSuccess();
      await fleet.flush();
      expect([...(await on.expiries()).keys()]).toHaveLength(1);
      on.clock.nowMs += 7 * BUCKET_MS + 60_001;
      expect((await on.expiries()).size).toBe(0);
    });

    test("another shape under the same name is refused", async () => {
      const fleet = new FleetMetrics(on.store, "mismatch", { ...SHAPE, ...on.modes });
      fleet.metric("pay").addSuccess();
      await fleet.flush();
      const other = new FleetMetrics(on.store, "mismatch", { ...SHAPE, ...on.modes, sampleCount: 3 });
      other.metric("pay").addSuccess();
      await expect(other.flush()).rejects.toMatchObject({ code: "MISMATCH" });
      await expect(other.read("pay")).rejects.toMatchObject({ code: "MISMATCH" });
    });

    test("percentiles are those of all response times of all processes", async () => {
      const [one, other] = [0, 1].map(
        () => new FleetMetrics(on.store, "latencies", { ...SHAPE, ...on.modes, percentiles: true }),
      );
      for (let latencyMs = 1; latencyMs <= 101; latencyMs++)
        (latencyMs % 3 ? one! : other!).metric("pay").recordSuccess(latencyMs);
      await other!.flush();
      expect(await one!.latencyPercentilesMs("pay", [0, 50, 99])).toEqual([1, 51, 100]);
      expect(await one!.latencyPercentilesMs("none", [50])).toEqual([Number.NaN]);
      await Promise.all([one!.close(), other!.close()]);
      const without = new FleetMetrics(on.store, "latencies", { ...SHAPE, ...on.modes, percentiles: false });
      await expect(without.latencyPercentilesMs("pay", [50])).rejects.toMatchObject({ code: "ARGUMENT" });
    });

    test("a flush is one call for any number of counts", async () => {
      if (!(on.client instanceof Redis)) return;
      const { client } = on;
      const fleet = new FleetMetrics(on.store, "calls", { ...SHAPE, ...on.modes, percentiles: false });
      fleet.metric("first").addAllowed();
      await fleet.flush();
      await client.config("RESETSTAT");
      for (let i = 0; i < 1000; i++) fleet.metric(`name ${i % 7}`).recordSuccess(i);
      await fleet.flush();
      const stats = await client.info("commandstats");
      expect(stats.match(/cmdstat_(evalsha|fcall):calls=(\d+)/)?.[2]).toBe("1");
    });
  }),
);
