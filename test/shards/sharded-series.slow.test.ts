import { afterEach, describe, expect, test, vi } from "vitest";
import { OrielError, Series, ShardedSeries } from "../../src/entries/index.ts";
import { type OpenStore, onMemory, onRedis6 } from "../series/contract/stores.ts";
import { eachSeed, mine, numbersOf, playSteps, type Random, stormy, turns, type World } from "./storm.ts";

const NAME = "storm";

/** What callers know of the events, each of which has a value of its own. */
class Known {
  readonly acknowledged = new Set<number>();
  /** Acknowledged, in a store, and inside every window that ends now. */
  readonly visible = new Set<number>();
  /** Refused, and certainly not there. */
  readonly refused = new Set<number>();
  last = 0;
}

async function recordIn(
  one: Series | ShardedSeries,
  known: Known,
  random: Random,
  nowMs: number,
  goesBack: boolean,
): Promise<void> {
  const values = Array.from({ length: 1 + random.below(3) }, () => ++known.last);
  const [value] = values as [number];
  const aborts = random.isOnceIn(10) ? new AbortController() : undefined;
  if (aborts) void turns(random.below(6)).then(() => aborts.abort(mine));
  const signal = aborts?.signal;
  const at = random.isOnceIn(4) ? nowMs : undefined;
  const isMany = random.isOnceIn(4);
  const events = isMany ? values : [value];
  const before = known.visible.size;
  try {
    let isStored: boolean;
    if (isMany) isStored = !(await one.recordMany(values, { at, signal })).degraded;
    else if (random.isOnceIn(2)) isStored = !(await one.record(value, { at, signal })).degraded;
    else {
      const { count, degraded } = await one.recordAndGet(value, { at, signal, percentiles: [50] });
      isStored = !degraded;
      if (one instanceof ShardedSeries && isStored && !goesBack) expect(count).toBeGreaterThan(before);
    }
    for (const each of events) {
      known.acknowledged.add(each);
      if (isStored && !(goesBack && at !== undefined)) known.visible.add(each);
    }
  } catch (error) {
    if (error === mine) return;
    expect(error).toBeInstanceOf(OrielError);
    const { code, transient, applied } = error as OrielError;
    expect(transient || code === "MISMATCH").toBe(true);
    if (applied === "no") for (const each of events) known.refused.add(each);
  }
}

async function checkIn(series: ShardedSeries, known: Known, random: Random): Promise<void> {
  const needed = new Set(known.visible);
  try {
    if (random.isOnceIn(2)) {
      const { count, degraded } = await series.stats({ percentiles: [0, 50, 100] });
      expect(count).toBeLessThanOrEqual(known.last);
      if (!degraded) expect(count).toBeGreaterThanOrEqual(needed.size);
      return;
    }
    const values = [...(await series.values())];
    const found = new Set(values);
    expect(found.size).toBe(values.length);
    expect([...needed].filter((value) => !found.has(value))).toEqual([]);
    expect(values.filter((value) => known.refused.has(value))).toEqual([]);
  } catch (error) {
    if (!(error instanceof OrielError && error.transient)) throw error;
  }
}

describe.each([
  ["memory", onMemory],
  ["Redis", onRedis6],
])("2, then 4, then 8 shards and a plain series, over %s", (_, open) => {
  afterEach(() => void vi.restoreAllMocks());

  async function play(seed: number, opened: OpenStore): Promise<void> {
    await opened.clear();
    const random = numbersOf(seed);
    const world: World = { cut: [], isLossy: seed % 3 === 0, reported: 0 };
    const isLocal = seed % 4 === 1;
    const goesBack = seed % 5 === 2;
    const known = new Known();
    const options = {
      retention: "1h",
      values: "float64",
      ...(isLocal && { onStoreError: "local" as const }),
    } as const;
    const storeOfOne = () => stormy(random.isOnceIn(2) ? opened.store : opened.other, random, world);
    const sharded = (shards: number) => new ShardedSeries(storeOfOne(), NAME, { ...options, shards });
    const all: (Series | ShardedSeries)[] = [new Series(storeOfOne(), NAME, options), sharded(2)];
    await playSteps(seed, random, world, opened, NAME, (step) => {
      if (goesBack && random.isOnceIn(10)) opened.clock.nowMs -= random.below(3000);
      if (step === 8) all.push(sharded(4));
      if (step === 14) all.push(sharded(8));
      return () => {
        const one = all[random.below(all.length)]!;
        const isQuery = one instanceof ShardedSeries && random.isOnceIn(3);
        return isQuery ? checkIn(one, known, random) : recordIn(one, known, random, opened.clock.nowMs, goesBack);
      };
    });
    // Buffered events are sent, or reported as lost at the end.
    for (const one of all) await one.stats();
    await Promise.all(all.map((one) => one.close()));
    opened.clock.nowMs += 20_000;
    const reader = new ShardedSeries(opened.store, NAME, { ...options, shards: 1 });
    const values = [...(await reader.values())];
    await reader.close();
    const found = new Set(values);
    expect(found.size).toBe(values.length);
    const lost = [...known.acknowledged].filter((value) => !found.has(value));
    expect(lost.length).toBeLessThanOrEqual(isLocal ? world.reported : 0);
    expect(values.filter((value) => known.refused.has(value))).toEqual([]);
  }

  test("find every event that was acknowledged, and nothing twice, whatever the network does", async () => {
    await eachSeed(40, open, play);
  });
});
