import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  Counters,
  DelayQueue,
  FleetMetrics,
  Limiter,
  Lock,
  Series,
  SeriesGroup,
  ShardedSeries,
  ShardedSeriesGroup,
  slidingWindow,
} from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { onHttp, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { lateStore } from "../harness/late-store.ts";

type Read = () => Promise<unknown>;

/** Structures with something in them, and their reads. The clock stands still, so a read always has the same answer. */
async function readsOf(store: Store, step: () => void): Promise<Read[]> {
  const [one, other] = ["one", "other"].map((name) => new Series(store, name, { retention: "1m", values: "float64" }));
  const group = new SeriesGroup(store, "group", { labels: ["site", "lane"], retention: "1m" });
  const sharded = new ShardedSeries(store, "sharded", { shards: 3, retention: "1m", values: "float64" });
  const wide = new ShardedSeriesGroup(store, "wide", { labels: ["site", "lane"], shards: 3, retention: "1m" });
  const limiter = new Limiter(store, [slidingWindow({ limit: 50, span: "10s" })], { name: "at once" });
  const counters = new Counters(store, "counters", { dimensions: ["site", "lane"], shards: 3 });
  const queue = new DelayQueue<number>(store, "queue", { shards: 2 });
  const fleet = new FleetMetrics(store, "fleet");
  const lock = new Lock(store, "lock");
  await lock.tryLock({ lease: "1m" });
  for (let i = 0; i < 40; i++) {
    await Promise.all([
      ...[one!, other!].map((series, which) => series.recordMany([i * 7 + 300 * which, (i * 7919) % 211])),
      sharded.recordMany([i * 7, (i * 7919) % 211]),
      group.record((i * 31) % 97, { site: `${i % 3}`, lane: `${i % 2}` }),
      wide.record((i * 31) % 97, { site: `${i % 3}`, lane: `${i % 2}` }),
      limiter.take(`id ${i % 4}`, { cost: 1 + (i % 3) }),
      counters.add({ site: `site ${i % 3}`, lane: `lane ${i % 2}` }, 1 + i),
      queue.add(i, { id: `message ${i}`, delay: 1000 + i }),
    ]);
    fleet.metric(`name ${i % 5}`).recordSuccess(i);
    step();
  }
  await fleet.flush();
  const reads: Read[] = [];
  for (let i = 0; i < 4; i++) {
    reads.push(() => limiter.peek(`id ${i}`));
    reads.push(() => queue.get(`message ${9 * i}`));
    reads.push(() => queue.peek({ limit: 3 * i + 1 }));
    reads.push(() => counters.read(i === 3 ? {} : { values: { site: `site ${i}` } }));
    reads.push(() => fleet.read(`name ${i}`));
    const percentiles = [0, 25 * i, 100];
    reads.push(() => one!.stats({ span: 100 + 300 * i, percentiles }));
    reads.push(() => one!.values({ span: 100 + 300 * i }));
    reads.push(() => other!.fractionBelow(100 * i, { span: 150 * i + 1 }));
    reads.push(() => one!.ranks([100 * i, 7], { span: 150 * i + 1 }));
    reads.push(() => other!.histogram({ span: 90 * i + 10, bounds: [50, 50 + 40 * (i + 1)] }));
    reads.push(() => one!.compare({ span: 200 + 100 * i, before: 100 * i + 1, percentiles }));
    reads.push(() => Series.stats([one!, other!], { span: 120 + 70 * i, percentiles }));
    reads.push(() => sharded.stats({ span: 100 + 300 * i, percentiles }));
    reads.push(() => sharded.timeline({ span: 300 + 300 * i, every: 100, percentiles }));
    reads.push(() => sharded.values({ span: 100 + 300 * i }));
    reads.push(() => group.stats({ span: 200 + 300 * i, percentiles, by: i % 2 === 0 ? ["site"] : [] }));
    reads.push(() => group.top(2, { by: "p90", span: 150 + 200 * i, match: { lane: "1" } }));
    reads.push(() => one!.timeline({ span: 300 + 300 * i, every: 100, percentiles }));
    reads.push(() => Series.timeline([one!, other!], { span: 700, every: 70 * i + 90, align: "every", percentiles }));
  }
  reads.push(
    () => lock.isHeld(),
    () => lock.inspect(),
    () => queue.counts(),
    () => queue.lag(),
    async () => new Map(await fleet.readAll()),
  );
  return reads;
}

const rows = [
  { name: "memory", open: onMemory },
  { name: "redis", open: () => onRedis() },
  { name: "redis cluster", open: () => onRedis(true) },
  { name: "redis over HTTP", open: onHttp },
];

describe.each(rows)("over $name", ({ open }) => {
  test.each([
    { answers: "as they come", ofStore: (store: Store) => store },
    { answers: "late", ofStore: lateStore },
  ])("every read answers the same alone and at once with others; answers come $answers", async ({ ofStore }) => {
    const opened = await open();
    const reads = await readsOf(ofStore(opened.store), () => {
      opened.clock.nowMs += 40;
    });
    const alone: unknown[] = [];
    for (const read of reads) alone.push(await read());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(reads.length - 1), { minLength: 2, maxLength: 30 }), async (asked) => {
        expect(await Promise.all(asked.map((i) => reads[i]!()))).toEqual(asked.map((i) => alone[i]));
      }),
      { numRuns: 40 },
    );
    await opened.close();
  });
});
