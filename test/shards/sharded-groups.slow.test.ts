import { afterEach, describe, expect, test, vi } from "vitest";
import { OrielError, SeriesGroup, ShardedSeriesGroup } from "../../src/entries/index.ts";
import { type OpenStore, onMemory, onRedis6 } from "../series/contract/stores.ts";
import { eachSeed, mine, numbersOf, playSteps, type Random, stormy, turns, type World } from "./storm.ts";

const NAME = "storm";
type Group = SeriesGroup<readonly ["id", "lane"]> | ShardedSeriesGroup<readonly ["id", "lane"]>;

/** What callers know of the events. Each has a value of its own, which is its label `id` too. */
class Known {
  readonly acknowledged = new Set<number>();
  readonly refused = new Set<number>();
  last = 0;
}

const labelsOf = (value: number) => ({ id: `${value}`, lane: `${value % 3}` });

async function recordIn(group: Group, known: Known, random: Random): Promise<void> {
  const value = ++known.last;
  const aborts = random.isOnceIn(10) ? new AbortController() : undefined;
  if (aborts) void turns(random.below(6)).then(() => aborts.abort(mine));
  try {
    await group.record(value, labelsOf(value), { signal: aborts?.signal });
    known.acknowledged.add(value);
  } catch (error) {
    if (error === mine) return;
    expect(error).toBeInstanceOf(OrielError);
    const { code, transient, applied } = error as OrielError;
    expect(transient || ["MISMATCH", "LOST"].includes(code)).toBe(true);
    if (applied === "no") known.refused.add(value);
  }
}

/** An answer has no event that was refused, none twice, and each that was acknowledged before, by itself or as `_other`. */
async function checkIn(group: Group, known: Known): Promise<void> {
  const needed = new Set(known.acknowledged);
  const before = known.last;
  try {
    const [{ rows, others, degraded }, lanes] = await Promise.all([group.stats(), group.stats({ by: ["lane"] })]);
    const found = new Map<number, number>();
    for (const { labels, count, min, max } of rows) {
      if (labels.id === "_other") {
        expect(count).toBe(others);
        continue;
      }
      expect([count, min, max, labels.lane]).toEqual([1, max, Number(labels.id), `${max % 3}`]);
      found.set(max, count);
    }
    expect(found.size + others).toBe(rows.reduce((sum, { count }) => sum + count, 0));
    expect([...found.keys()].filter((value) => known.refused.has(value))).toEqual([]);
    if (degraded || lanes.degraded) return;
    const lost = [...needed].filter((value) => !found.has(value));
    expect(lost.length).toBeLessThanOrEqual(others);
    expect(lanes.rows.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(needed.size);
    expect(found.size + others).toBeLessThanOrEqual(Math.max(before, known.last));
  } catch (error) {
    if (!(error instanceof OrielError && error.transient)) throw error;
  }
}

describe.each([
  ["memory", onMemory],
  ["Redis", onRedis6],
])("a group in 2, then 4, then 8 shards and one without, over %s", (_, open) => {
  afterEach(() => void vi.restoreAllMocks());

  async function play(seed: number, opened: OpenStore): Promise<void> {
    await opened.clear();
    const random = numbersOf(seed);
    const world: World = { cut: [], isLossy: seed % 3 === 0, reported: 0 };
    const known = new Known();
    const options = {
      labels: ["id", "lane"],
      retention: "1h",
      // Too few in some storms.
      maxGroups: seed % 4 === 1 ? 30 : 1000,
    } as const;
    const storeOfOne = () => stormy(random.isOnceIn(2) ? opened.store : opened.other, random, world);
    const sharded = (shards: number): Group => new ShardedSeriesGroup(storeOfOne(), NAME, { ...options, shards });
    const plain: Group = new SeriesGroup(storeOfOne(), NAME, options);
    const all = [plain, sharded(2)];
    await playSteps(seed, random, world, opened, NAME, (step) => {
      if (step === 8) all.push(sharded(4));
      if (step === 14) all.push(sharded(8));
      return () => {
        const one = all[random.below(all.length)]!;
        const isQuery = one !== plain && random.isOnceIn(3);
        return isQuery ? checkIn(one, known) : recordIn(one, known, random);
      };
    });
    for (const one of all) await one.stats();
    await Promise.all(all.map((one) => one.close()));
    const reader: Group = new ShardedSeriesGroup(opened.store, NAME, { ...options, shards: 1 });
    await checkIn(reader, known);
    const { rows, degraded } = await reader.stats({ by: [] });
    await reader.close();
    expect(degraded).toBe(false);
    expect(rows[0]!.count).toBeGreaterThanOrEqual(known.acknowledged.size);
    expect(rows[0]!.count).toBeLessThanOrEqual(known.last - known.refused.size);
  }

  test("each row has its events, and all together every one that was acknowledged, once", async () => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await eachSeed(30, open, play);
  });
});
