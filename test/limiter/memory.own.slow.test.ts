import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Limiter, slidingWindow } from "../../src/entries/index.ts";
import { type OpenStore, onRedis } from "../harness/clock/stepped-stores.ts";

let opened: OpenStore;
let raw: Redis;
beforeAll(async () => {
  // The keys of the registry are no keys of a limiter.
  opened = await onRedis(false, { registry: false });
  raw = opened.client as Redis;
});
beforeEach(() => opened.clear());
afterAll(() => opened?.close());

const SPAN_MS = 3_600_000;
const limiterOf = (limit: number) =>
  new Limiter(opened.store, [slidingWindow({ limit, span: SPAN_MS })], { name: "log" });

async function onlyKey(): Promise<string> {
  const keys = await raw.keys("*");
  expect(keys).toHaveLength(1);
  return keys[0]!;
}

/** Each call in a ms of its own: the dearest that they can be. */
async function fill(limiter: Limiter, calls: number): Promise<void> {
  for (let i = 0; i < calls; i++) {
    opened.clock.nowMs += 1;
    if (!(await limiter.take("id")).allowed) throw new Error(`call ${i} was denied`);
  }
}

/** GETRANGE calls that one take needs. */
async function probes(limiter: Limiter): Promise<number> {
  await raw.config("RESETSTAT");
  await limiter.take("id");
  return Number(/cmdstat_getrange:calls=(\d+)/.exec(await raw.info("commandstats"))?.[1] ?? 0);
}

const usage = async () => Number(await raw.memory("USAGE", await onlyKey(), "SAMPLES", 0));

test.each(["1m", "1h", "30d"] as const)(
  "limit 100 per %s: at most 180 bytes an id after one call, 560 after a hundred, and two commands a call",
  async (span) => {
    const limiter = new Limiter(opened.store, [slidingWindow({ limit: 100, span })], { name: "bench" });
    await fill(limiter, 1);
    expect(await usage()).toBeLessThanOrEqual(180);
    await fill(limiter, 98);
    await raw.config("RESETSTAT");
    await fill(limiter, 1);
    expect(await usage()).toBeLessThanOrEqual(560);
    const commands = [...(await raw.info("commandstats")).matchAll(/cmdstat_(\w+):calls=(\d+)/g)];
    const sent = commands.filter(([, name]) => /^(pexpireat|pttl|del|get|getrange|set|setrange|strlen)$/.test(name!));
    expect(sent.map(([, name, calls]) => [name, calls]).sort()).toEqual([
      ["getrange", "1"],
      ["set", "1"],
    ]);
  },
);

test("no number of calls and no limit takes more than the rings of format 1 did", async () => {
  for (const limit of [1, 9, 100, 160, 240, 241, 700, 5000])
    for (const span of ["200ms", "1m", "1h", "365d"] as const) {
      await opened.clear();
      const limiter = new Limiter(opened.store, [slidingWindow({ limit, span })], { name: "log" });
      let slots = Math.min(8, limit);
      for (let calls = 1; calls <= Math.min(limit, 190); calls++) {
        await fill(limiter, 1);
        if (calls > slots) slots = Math.min(Math.ceil(calls * 1.5), limit);
        const key = await onlyKey();
        const [bytes, length] = [await usage(), await raw.strlen(key)];
        expect(length, `${calls} of ${limit} in ${span}`).toBeLessThanOrEqual(80 + 12 * slots);
        const other = `${key.slice(0, -1)}!`;
        await raw.set(other, "x".repeat(80 + 12 * slots), "EX", 60);
        expect(bytes).toBeLessThanOrEqual(Number(await raw.memory("USAGE", other, "SAMPLES", 0)));
        await raw.del(other);
      }
    }
});

test.each([
  [100, 1],
  [1000, 40],
  [10_000, 56],
])(
  "limit %i: at most 24 bytes per call and 160 per key, and at most %i reads per call: one of a log, else 4 log2 of the limit",
  async (limit, reads) => {
    const limiter = limiterOf(limit);
    for (let calls = 0; calls < limit; ) {
      const more = Math.min(limit - calls, calls < 200 ? 10 : Math.ceil(calls / 3));
      await fill(limiter, more);
      calls += more;
      const bytes = Number(await raw.memory("USAGE", await onlyKey()));
      if (calls >= 100) expect(bytes / (24 * calls + 160)).toBeLessThanOrEqual(1);
    }
    expect(await probes(limiter)).toBeLessThanOrEqual(3);
    opened.clock.nowMs += SPAN_MS;
    const half = opened.clock.nowMs - Math.floor(limit / 2);
    opened.clock.nowMs = half;
    const denied = await limiter.take("id", { cost: limit });
    expect(denied.allowed).toBe(false);
    let most = 0;
    for (const gone of [0.01, 0.1, 0.3, 0.5, 0.9]) {
      opened.clock.nowMs = half - Math.ceil(limit / 2) + Math.ceil(limit * gone);
      await raw.config("RESETSTAT");
      await limiter.peek("id", { cost: Math.ceil(limit * 0.95) });
      most = Math.max(most, Number(/cmdstat_getrange:calls=(\d+)/.exec(await raw.info("commandstats"))?.[1] ?? 0));
    }
    expect(most).toBeLessThanOrEqual(reads);
  },
);

test("calls of one millisecond share a record; the key of a single call is small", async () => {
  const limiter = limiterOf(100_000);
  await limiter.take("id");
  const alone = Number(await raw.memory("USAGE", await onlyKey()));
  expect(alone).toBeLessThanOrEqual(24 * 8 + 160);
  await Promise.all(Array.from({ length: 10_000 }, () => limiter.take("id")));
  expect(await raw.memory("USAGE", await onlyKey())).toBe(alone);
  expect(await limiter.peek("id")).toMatchObject({ remaining: 100_000 - 10_001 });
});

test("a key shrinks with its window, and is deleted when it is empty", async () => {
  const limiter = limiterOf(2000);
  await fill(limiter, 2000);
  const full = Number(await raw.memory("USAGE", await onlyKey()));
  opened.clock.nowMs += SPAN_MS;
  await fill(limiter, 10);
  expect(Number(await raw.memory("USAGE", await onlyKey()))).toBeLessThan(full / 10);
  opened.clock.nowMs += SPAN_MS;
  await limiter.take("id", { cost: 0 });
  expect([...(await opened.expiries()).values()].every((atMs) => atMs <= opened.clock.nowMs)).toBe(true);
});
