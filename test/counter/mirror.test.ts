import type { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import type { CountersOptions } from "../../src/counters/counter/options.ts";
import type { MemoryStore } from "../../src/store/memory/memory.ts";
import { type OpenStore, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { until } from "../harness/until.ts";

const AT = Date.UTC(2100, 0, 1, 23, 59);
const DAY_MS = 86_400_000;
const stores = { memory: onMemory, redis: () => onRedis(), "a cluster": () => onRedis(true) };

describe.each(Object.keys(stores) as (keyof typeof stores)[])("a mirror in %s", (name) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await stores[name]();
  });
  beforeEach(() => opened.clear());
  afterAll(() => opened?.close());
  const counters = (mirror: CountersOptions["mirror"], more: Partial<CountersOptions> = {}) =>
    new Counters(opened.store, "flow", { dimensions: ["site", "lane"], shards: 4, ...(mirror && { mirror }), ...more });
  const get = async (key: string) => {
    const client = opened.client as Redis | Cluster | undefined;
    return client ? await client.get(key) : ((opened.store as MemoryStore).entryOf(key)?.value ?? null);
  };

  test("has minute, hour and day of events from add and addBatch, until they expire", async () => {
    const flow = counters({ prefix: "m:", keep: "2d" });
    for (let i = 0; i < 3; i++) await flow.add({ site: "S1", lane: "3" }, { at: AT });
    await flow.add({ site: "S1", lane: "3" }, { at: AT - 60_000, count: 10 });
    const events = [{ values: { site: "S2", lane: "" }, at: AT + 60_000, count: 2 ** 40 }];
    await flow.addBatch("kafka/0", 7, events);
    await flow.addBatch("kafka/0", 7, events);
    await flow.close();
    expect(await get("m:S1:210001012359:3:M")).toBe("3");
    expect(await get("m:S1:210001012358:3:M")).toBe("10");
    expect(await get("m:S1:2100010123:3:H")).toBe("13");
    expect(await get("m:S1:21000101:3:D")).toBe("13");
    expect(await get("m:S2:21000102::D")).toBe(`${2 ** 40}`);
    const ends = [...(await opened.expiries())].filter(([key]) => key.startsWith("m:")).map(([, end]) => end);
    expect(ends).toEqual(Array(7).fill(opened.clock.nowMs + 2 * DAY_MS));
  });

  test("uses local time, and only the configured buckets", async () => {
    const flow = counters({}, { buckets: ["hour"], timeZone: "Asia/Kolkata" });
    await flow.add({ site: "S1", lane: "3" }, { at: AT });
    await flow.close();
    expect(await get("S1:2100010205:3:H")).toBe("1");
    expect(await get("S1:21000102:3:D")).toBeNull();
  });

  test("adds up events that arrive during a round; callers see them without closing", async () => {
    const flow = counters({});
    await Promise.all(
      Array.from({ length: 5000 }, (_, i) =>
        flow.add({ site: `S${i % 50}`, lane: "1" }, { at: AT + (i % 40) * 60_000 }),
      ),
    );
    for (let i = 0; i < 50; i++) {
      const days = [`S${i}:21000101:1:D`, `S${i}:21000102:1:D`];
      const sum = async () => (await Promise.all(days.map(get))).reduce<number>((all, each) => all + Number(each), 0);
      await until(`S${i} is shown`, async () => (await sum()) === 100);
    }
    await flow.close();
  });

  test("a key with foreign data, or no mirror at all, changes no count", async () => {
    const client = opened.client as Redis | Cluster | undefined;
    await client?.hset("S1:2100010123:3:H", "a", "1");
    const flow = counters({});
    await flow.add({ site: "S1", lane: "3" }, { at: AT });
    await counters(undefined).add({ site: "S1", lane: "3" }, { at: AT });
    await flow.close();
    expect((await flow.read()).map(({ count }) => count)).toEqual([2]);
    expect(await get("S1:21000101:3:D")).toBe("1");
  });
});

test.each([
  [{ keep: "0s" }, /mirror.keep is "0s"/],
  [{ prefix: 7 }, /mirror.prefix is 7/],
  [{ till: 1 }, /till/],
])("refuses %j", async (mirror, message) => {
  const { store, close } = await onMemory();
  expect(() => new Counters(store, "flow", { dimensions: ["site"], mirror: mirror as never })).toThrow(message);
  await close();
});
