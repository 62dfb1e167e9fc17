import { expect, test } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  fixedWindow,
  Limiter,
  Lock,
  memoryStore,
  Series,
  type Store,
} from "../../src/entries/index.ts";

/** Parts of keys, and what stands between them. */
const PARTS = [
  "a",
  "a:b",
  "a:fleet",
  "fleet",
  "latency",
  "a:latency",
  "a:rt:b",
  "rt",
  "b:rt:c",
  "1",
  "a:1",
  "a:summary",
];
const ODD = ["summary", "n", "a:n", "{a}", "a}", "{a", "a}:fleet", "a}:limit", "a:limit", "limit", "a:breaker:10000"];
const MORE = [
  "breaker",
  "a:counts",
  "a:shape",
  "shape",
  "a:times",
  "messages",
  "%",
  "%3A",
  "a%3Ab",
  "%253A",
  ":",
  "::",
  "a:",
  ":a",
  "!",
  "a!b",
];
const NAMES = [...PARTS, ...ODD, ...MORE, "mutex:a", "a|b", " ", "é\u{1f600}"];

/** A store that logs the keys of each step. */
function watched(onKey: (key: string) => void): Store {
  const store = memoryStore({ registry: false });
  return {
    ...store,
    run(operation, key, input, options) {
      for (const each of operation.keysOf?.(key, input) ?? [key]) onKey(each);
      return store.run(operation, key, input, options);
    },
  };
}

/** What each structure does first under its names; each pair of names is one owner of keys. */
const USES: Record<string, { isPair: boolean; use(store: Store, one: string, other: string): Promise<unknown> }> = {
  Series: {
    isPair: false,
    use: async (store, name) => {
      const series = new Series(store, name, { retention: "1h" });
      await series.record(1);
      await series.stats({ span: "1h" });
    },
  },
  Limiter: {
    isPair: true,
    use: (store, name, id) =>
      new Limiter(store, [fixedWindow({ limit: 1, span: "1m" })], { name }).take(id, { requestId: "1" }),
  },
  Lock: { isPair: false, use: async (store, name) => (await new Lock(store, name).tryLock())?.release() },
  Counters: {
    isPair: false,
    use: async (store, name) => {
      const counters = new Counters(store, name, { dimensions: ["page"], buckets: ["minute"] });
      counters.add({ page: "x" });
      await counters.close();
    },
  },
  DelayQueue: {
    isPair: false,
    use: (store, name) => new DelayQueue(store, name).add(1, { id: "x" }),
  },
  Breaker: {
    isPair: false,
    use: (store, name) => new Breaker(store, { name, span: "10s", failures: 1 }).flush(),
  },
  FleetMetrics: {
    isPair: true,
    use: async (store, name, metric) => {
      const fleet = new FleetMetrics(store, name, { percentiles: true, flush: "1h" });
      fleet.metric(metric).recordSuccess(1);
      await fleet.close();
    },
  },
};

test("no two structures, and no two names of one, share a key, whatever their names", async () => {
  const owners = new Map<string, string>();
  const shared: string[] = [];
  for (const [structure, { isPair, use }] of Object.entries(USES))
    for (const one of NAMES)
      for (const other of isPair ? NAMES : [""]) {
        const store = watched((key) => {
          // The buckets of a fleet are of all its metrics.
          const isCommon = key.endsWith("}:fleet");
          const owner = JSON.stringify(isCommon ? [structure, one] : [structure, one, other]);
          const before = owners.get(key);
          if (before !== undefined && before !== owner) shared.push(`${key} is of ${before} and of ${owner}`);
          owners.set(key, owner);
        });
        await use(store, one, other);
      }
  expect(shared).toEqual([]);
  expect(owners.size).toBeGreaterThan(2 * NAMES.length ** 2);
});
