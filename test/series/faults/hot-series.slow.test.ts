import { Cluster } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { SeriesOptions } from "../../../src/engine/series/series-options.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type Child, startChild } from "../../harness/child.ts";
import { type RedisCluster, startCluster } from "../../harness/servers/redis-cluster.ts";
import { until } from "../../harness/until.ts";
import { expectStats } from "../../stats/oracle.ts";

const NODES = 3;
/** More than any process records in a test. */
const SHARE = 1_000_000;

let cluster: RedisCluster;
let client: Cluster;
let store: Store;
/** One name per node. */
const names: string[] = [];
beforeAll(async () => {
  cluster = await startCluster(NODES);
  client = new Cluster([...cluster.urls]);
  client.on("error", () => {});
  store = redisStore(client);
  for (let i = 0; names.filter(Boolean).length < NODES; i++)
    names[await cluster.ownerOf(store.keyOf(`hot:${i}`))] ??= `hot:${i}`;
});
beforeEach(() => cluster.flush());
let writers: Child[] = [];
afterEach(() => Promise.all(writers.map((writer) => writer.kill())));
afterAll(async () => {
  await store?.close();
  client?.disconnect();
  await cluster?.stop();
});

function open(options: SeriesOptions = {}): Series[] {
  return names.map((name) => new Series(store, name, { retention: "10m", values: "float64", ...options }));
}

/** Brute force over the parts' values in the window that ended at `at`. */
async function truth(parts: readonly Series[], at: number): Promise<number[]> {
  return (await Promise.all(parts.map((part) => part.values({ at })))).flatMap((values) => [...values]);
}

test("written by one process each, read as one: every acknowledged event is in the answer once", async () => {
  const parts = open();
  writers = names.map((name, i) =>
    startChild(new URL("./hot-writer.ts", import.meta.url), [cluster.urls.join(","), name, SHARE * i + 1]),
  );
  await Promise.all(writers.map((writer) => writer.printed(100)));
  const printed = () => writers.reduce((sum, { lines }) => sum + lines.length, 0);
  for (let i = 0; i < 50; i++) {
    const before = printed();
    const { count, degraded } = await Series.stats(parts, { percentiles: [50, 99] });
    expect(count).toBeGreaterThanOrEqual(before);
    expect(degraded).toBe(false);
  }
  // A window that is over everywhere is one cut: the same for all who ask, and what brute force gives.
  const { to: at } = await Series.stats(parts);
  await until("time goes on at all nodes", async () => {
    const ends = await Promise.all(parts.map(async (part) => (await part.stats()).to));
    return Math.min(...ends) > at;
  });
  const question = { at, span: "5m", percentiles: [0, 1, 50, 99, 99.9, 100] } as const;
  const answer = await Series.stats(parts, question);
  await Promise.all(writers.map((writer) => writer.printed(writer.lines.length + 100)));
  const values = await truth(parts, at);
  for (const reported of [answer, await Series.stats(open(), question)]) {
    expect(reported).toMatchObject({ from: at - 300_000, to: at, degraded: false });
    expectStats(reported, values, { percentiles: [...question.percentiles] });
  }

  await Promise.all(writers.map((writer) => writer.kill()));
  const found = await truth(open(), Date.now() + 1000);
  expect(new Set(found).size).toBe(found.length);
  const missing = writers
    .flatMap(({ lines }) => lines.map(Number))
    .filter(
      (
        (all) => (v) =>
          !all.has(v)
      )(new Set(found)),
    );
  expect(missing).toEqual([]);
});

test("percentiles are those of all values together, not a mean over the parts", async () => {
  const parts = open();
  const values = [900, 90, 10].map((count, i) => Array.from({ length: count }, (_, j) => 10 ** (2 * i) + j / count));
  await Promise.all(parts.map((part, i) => part.recordMany(values[i]!)));
  const all = await Series.stats(parts, { percentiles: [50, 90, 99] });
  expectStats(all, values.flat(), { percentiles: [50, 90, 99] });
  const alone = await Promise.all(parts.map((part) => part.stats({ percentiles: [99] })));
  const mean = alone.reduce((sum, { percentiles }) => sum + percentiles[99]!, 0) / parts.length;
  expect(all.percentiles[99]).toBeLessThan(mean / 5);
});

test("a node stands still: the whole is refused or degraded; parts on other nodes answer", async () => {
  const impatient = redisStore(client, { deadline: 2000 });
  const ask = (options: SeriesOptions) =>
    names.map((name) => new Series(impatient, name, { retention: "10m", values: "float64", ...options }));
  const [strict, lenient] = [ask({}), ask({ onStoreError: "local" })];
  await Promise.all(strict.map((part, i) => part.recordMany([i, i])));
  expect((await Series.stats(lenient)).count).toBe(6);
  cluster.nodes[1]!.pause();
  await expect(Series.stats(strict)).rejects.toMatchObject({ transient: true });
  expect(await Series.stats(lenient)).toMatchObject({ degraded: true, degradedBy: "local", count: 6, sum: 6 });
  for (const i of [0, 2]) expect(await strict[i]!.stats()).toMatchObject({ degraded: false, count: 2 });
  cluster.nodes[1]!.resume();
  await until("it is whole again", async () => !(await Series.stats(lenient)).degraded);
  expect((await Series.stats(strict)).count).toBe(6);
  await impatient.close();
});
