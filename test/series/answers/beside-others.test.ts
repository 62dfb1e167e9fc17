import { AsyncLocalStorage } from "node:async_hooks";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type OrielError, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type OpenStore, onRedis } from "../../harness/clock/stepped-stores.ts";
import { until } from "../../harness/until.ts";

let opened: OpenStore;
beforeAll(async () => {
  opened = await onRedis();
});
/** Another one for each test: a late answer of the test before is none of this one's. */
let tests = 0;
beforeEach(() => {
  tests++;
  return opened.clear();
});
afterAll(() => opened.close());

/** A series of a process of its own, whose steps go through `run`. */
function seriesOf(run: (name: string, go: () => Promise<unknown>) => Promise<unknown> = (_name, go) => go()): Series {
  const { store } = opened;
  const through = ((operation, ...rest) => run(operation.name, () => store.run(operation, ...rest))) as Store["run"];
  return new Series({ ...store, run: through }, `s${tests}`, { values: "float64", retention: "1h" });
}

describe("an answer of another process", () => {
  test("shows the loss of events that this process has seen", async () => {
    const client = opened.client as Redis;
    const [writer, other] = [seriesOf(), seriesOf()];
    await writer.recordMany([1, 2]);
    const saved = await client.dumpBuffer(`oriel:{s${tests}}`);
    await writer.recordMany([3, 4, 5]);
    opened.clock.nowMs += 10;
    await client.restore(`oriel:{s${tests}}`, 0, saved, "REPLACE");
    expect(await other.stats({ maxAge: 1000 })).toMatchObject({ count: 2, degraded: false });
    const told = await writer.stats({ maxAge: 1000 });
    expect(told).toMatchObject({ count: 2, degraded: true, degradedBy: "lost" });
    for (const each of [writer, other]) await each.close();
  });

  test("shows no loss if events were only recorded since, or the series was deleted and begun again", async () => {
    const [writer, other] = [seriesOf(), seriesOf()];
    await writer.recordMany([1, 2]);
    opened.clock.nowMs += 10;
    expect((await other.stats({ maxAge: 1000 })).count).toBe(2);
    await writer.recordMany([3, 4, 5]);
    expect(await writer.stats({ maxAge: 1000 })).toMatchObject({ count: 2, degraded: false });
    opened.clock.nowMs += 2000;
    await other.delete();
    opened.clock.nowMs += 10;
    await other.record(7);
    opened.clock.nowMs += 10;
    expect((await other.stats({ maxAge: 5 })).count).toBe(1);
    expect(await writer.stats({ maxAge: 1000 })).toMatchObject({ count: 1, degraded: false });
    for (const each of [writer, other]) await each.close();
  });

  test("that is foreign bytes is none", async () => {
    const series = seriesOf();
    await series.recordMany([1, 2, 3]);
    await seriesOf().stats({ maxAge: 60_000 });
    const [key] = await (opened.client as Redis).keys("*:answer:*");
    const state = (await (opened.client as Redis).getBuffer(key!))!;
    for (const bytes of [state.subarray(0, -8), Buffer.concat([state, state]), Buffer.alloc(9)]) {
      await (opened.client as Redis).set(key!, bytes);
      expect((await seriesOf().stats({ maxAge: 60_000 })).count).toBe(3);
    }
    await (opened.client as Redis).del(key!);
    await (opened.client as Redis).rpush(key!, "a list");
    expect((await seriesOf().stats({ maxAge: 60_000 })).count).toBe(3);
  });
});

describe("a series that closes", () => {
  test("answers the call that waits, and asks nothing afterwards", async () => {
    const never = new Promise<never>(() => {});
    const stuck = seriesOf((name, go) => (name.startsWith("journal/") ? never : go()));
    await seriesOf().record(1);
    void stuck.stats({ maxAge: 60_000 }).catch(() => {});
    const steps: string[] = [];
    const waiting = seriesOf((name, go) => {
      steps.push(name);
      return go();
    });
    const answer = waiting.stats({ maxAge: 60_000 });
    await until("it waits for the claim", async () => steps.filter((name) => name === "series/ask").length > 1);
    await waiting.close();
    expect((await answer).count).toBe(1);
    const { length } = steps;
    await expect(waiting.stats({ maxAge: 60_000 })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(steps).toHaveLength(length);
  });
});

test("a renewal runs in the context of the series, not in that of the request that asked first", async () => {
  const contexts = new AsyncLocalStorage<string>();
  const steps: [context: string | undefined, name: string][] = [];
  const published = () => steps.filter(([, name]) => name === "series/publish");
  const one = contexts.run("program", () =>
    seriesOf(async (name, go) => {
      steps.push([contexts.getStore(), name]);
      // Only an answer that another process wants is renewed, so it asks just before each renewal does.
      const isRenewal = name === "series/ask" && published().length > 0;
      if (isRenewal) await contexts.exit(() => seriesOf().stats({ maxAge: 50 }));
      return go();
    }),
  );
  await seriesOf().record(1);
  await contexts.run("request", () => one.stats({ maxAge: 50 }));
  expect(published()).toHaveLength(1);
  await until("it is renewed", async () => published().length > 1);
  expect(published().slice(0, 2)).toEqual([
    ["request", "series/publish"],
    ["program", "series/publish"],
  ]);
  const renewedAt = steps.findIndex(([context, name]) => context === "program" && name === "series/ask");
  expect(steps.slice(0, renewedAt).map(([context]) => context)).not.toContain("program");
  expect(steps.slice(renewedAt).map(([context]) => context)).not.toContain("request");
  await one.close();
});

test("calls above the bound are refused while no answer comes", async () => {
  const never = new Promise<never>(() => {});
  const series = seriesOf(() => never);
  const codes = new Map<string, number>();
  for (let i = 0; i < 65_537; i++)
    series
      .stats({ maxAge: 1000 })
      .catch((error: OrielError) => codes.set(error.code, 1 + (codes.get(error.code) ?? 0)));
  await until("one is refused", async () => codes.size > 0);
  expect([...codes]).toEqual([["OVERLOADED", 1]]);
});
