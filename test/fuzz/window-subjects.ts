import { siteOf } from "../../src/base/site.ts";
import type { Duration } from "../../src/base/time.ts";
import { ChunkSealer } from "../../src/engine/journal/sealed/sealer.ts";
import { readParts } from "../../src/engine/journal/sealed/steps/read-parts.ts";
import { seal } from "../../src/engine/journal/sealed/steps/seal.ts";
import { read } from "../../src/engine/journal/steps/read.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../src/engine/kernel/choose.ts";
import {
  LockedWindow,
  Series,
  SeriesGroup,
  type SeriesOptions,
  ShardedSeries,
  ShardedSeriesGroup,
} from "../../src/entries/index.ts";
import { CHUNK_BYTES, CHUNK_NUMBER_AT } from "../../src/generated/layouts/journal.ts";
import type { Store } from "../../src/store/contract.ts";
import { expectEqual } from "./expect-equal.ts";
import type { Driven, Subject } from "./subject.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const SEEDED = [1, 2, 3, 4, 5];

/** A sealed form of another chunk of this number. */
function sealOf(number: number) {
  const bytes = new Uint8Array(CHUNK_BYTES);
  bytes[0] = 2;
  new DataView(bytes.buffer).setUint32(CHUNK_NUMBER_AT, number, true);
  return { bytes, length: CHUNK_BYTES + 1, nextBirth: 1 };
}

/** Closes the open chunk, and seals it. */
async function sealChunk(store: Store, name: string): Promise<void> {
  const key = store.keyOf(name);
  const { header } = await store.run(read, key, "header");
  const { number, birth } = header!;
  await store.run(rotate, key, { number, birth, nextBirth: 7 });
  const sealer = new ChunkSealer(store, key, () => ({ codec: jsCodec, kernel: activeKernel() }));
  expectEqual("a closed chunk", await sealer.seal(number), "sealed");
}

/** Three chunks, the first ones closed; or one sealed chunk before the open one. */
function seriesSubject(name: string, options: SeriesOptions, isSealed = false): Subject {
  const seeded = isSealed ? Array.from({ length: 1500 }, (_, i) => 1 + (i % 5)) : SEEDED;
  const isEvent = options.clock === "event";
  const at = () => (isEvent ? { at: Date.now() } : {});
  return {
    name,
    called: /series/i,
    drives: ["Series"],
    keys: [/^oriel:\{NAME\}$/, /^oriel:\{NAME\}:\d+$/],
    open(store, key, span = "1m"): Driven {
      const series = new Series(store, key, { retention: span, ...options });
      return {
        reported: [],
        async seed() {
          for (let chunk = 0; chunk < (isSealed ? 1 : 3); chunk++) {
            if (chunk > 0) await pause(1000);
            await series.recordMany(seeded, at());
          }
          if (!isSealed) return;
          await sealChunk(store, key);
          await series.recordMany(SEEDED, at());
        },
        asks: {
          stats: () => series.stats(),
          record: () => series.record(1, isEvent ? at() : undefined),
          "record again": () => series.record(2, isEvent ? at() : undefined),
          "stats with maxAge": () => series.stats({ maxAge: 1 }),
          "parts of a chunk": () =>
            siteOf("Series", store, key).run("stats", () =>
              store.run(readParts, `${store.keyOf(key)}:1`, { birth: 1, checksum: 1, parts: [[0, 8]] }),
            ),
          seal: () => siteOf("Series", store, key).run("seal", () => store.run(seal, store.keyOf(key), sealOf(1))),
          recordAndGet: () => series.recordAndGet(3, at()),
          recordMany: () => series.recordMany([4, 5], at()),
          values: () => series.values(),
          fractionBelow: () => series.fractionBelow(3),
          ranks: () => series.ranks([3]),
          histogram: () => series.histogram({ bounds: [3] }),
          compare: () => series.compare({ span: "10s", before: "10s" }),
          timeline: () => series.timeline({ every: "10s" }),
          "stats of several": () => Series.stats([series]),
          "timeline of several": () => Series.timeline([series], { every: "10s" }),
          delete: () => series.delete(),
          "record after delete": () => series.record(1, isEvent ? at() : undefined),
        },
        async check() {
          const before = (await series.stats()).count;
          await series.recordMany([7, 8], at());
          await series.record(9, at());
          expectEqual(`${name}: count`, (await series.stats()).count - before, 3);
          expectEqual(`${name}: last values`, [...(await series.values())].slice(-3), [7, 8, 9]);
        },
        close: () => series.close(),
      };
    },
  };
}

/** Of a group, with shards or without. */
function groupSubject(
  name: string,
  drives: string,
  keys: readonly RegExp[],
  open: (store: Store, key: string, span: Duration) => SeriesGroup | ShardedSeriesGroup,
): Subject {
  return {
    name,
    called: /series/i,
    drives: [drives],
    keys,
    open(store, key, span = "1m"): Driven {
      const group = open(store, key, span);
      const put = (value: number) => group.record(value, { route: `/${value % 3}` });
      return {
        reported: [],
        async seed() {
          await Promise.all(SEEDED.map(put));
          await Promise.all(SEEDED.map(put));
        },
        asks: {
          record: () => put(1),
          "record again": () => put(2),
          "record of another group": () => put(0.5),
          stats: () => group.stats(),
          "stats of all": () => group.stats({ by: [], match: { route: ["/1", "/2"] } }),
          top: () => group.top(1, { by: "p99" }),
          delete: () => group.delete(),
          "record after delete": () => put(1),
        },
        async check() {
          const counted = async () => (await group.stats({ by: [] })).rows[0]?.count ?? 0;
          const before = await counted();
          await Promise.all([7, 8, 9].map(put));
          expectEqual(`${name}: count`, (await counted()) - before, 3);
        },
        close: () => group.close(),
      };
    },
  };
}

export const seriesGroup = groupSubject(
  "series group",
  "SeriesGroup",
  [/^oriel:\{NAME\}$/, /^oriel:\{NAME\}:groups$/],
  (store, key, span) => new SeriesGroup(store, key, { labels: ["route"], retention: span }),
);

export const shardedSeriesGroup = groupSubject(
  "sharded series group",
  "ShardedSeriesGroup",
  [/^oriel:\{NAME:\d+\}:shard$/, /^oriel:\{NAME:\d+\}:shard:groups$/, /^oriel:\{NAME\}:shards$/],
  (store, key, span) => new ShardedSeriesGroup(store, key, { labels: ["route"], shards: 2, retention: span }),
);

export const shardedSeries: Subject = {
  name: "sharded series",
  called: /series/i,
  drives: ["ShardedSeries"],
  keys: [/^oriel:\{NAME:\d+\}:shard$/, /^oriel:\{NAME\}:shards$/],
  open(store, key, span = "1m"): Driven {
    const sharded = new ShardedSeries(store, key, { shards: 2, retention: span });
    return {
      reported: [],
      async seed() {
        for (const value of SEEDED) await sharded.record(value);
      },
      asks: {
        record: () => sharded.record(1),
        "record again": () => sharded.record(2),
        recordMany: () => sharded.recordMany([4, 5]),
        recordAndGet: () => sharded.recordAndGet(3),
        stats: () => sharded.stats(),
        "stats of the values": () => sharded.stats({ percentiles: [] }),
        timeline: () => sharded.timeline({ every: "10s" }),
        histogram: () => sharded.histogram({ bounds: [3] }),
        ranks: () => sharded.ranks([3]),
        compare: () => sharded.compare({ span: "10s", before: "10s" }),
        values: () => sharded.values(),
        fractionBelow: () => sharded.fractionBelow(3),
        delete: () => sharded.delete(),
        "record after delete": () => sharded.record(1),
      },
      async check() {
        const before = (await sharded.stats()).count;
        await Promise.all([7, 8, 9].map((value) => sharded.record(value)));
        await sharded.recordMany([1, 2]);
        expectEqual("sharded series: count", (await sharded.stats()).count - before, 5);
      },
      close: () => sharded.close(),
    };
  },
};

export const lockedWindow: Subject = {
  name: "locked window",
  called: /window/i,
  drives: ["LockedWindow"],
  keys: [/^sw_counter_bytes:\{NAME\}$/, /^oriel:\{sw_counter_bytes:NAME\}:lock$/],
  open(store, key, span = "1m", isDamaged = false): Driven {
    // Less than the lease, so a lock that is not released is found, and more than any machine stands still.
    const whole = new LockedWindow(store, key, { span, wait: "4m", lease: "1h" });
    const window = isDamaged ? new LockedWindow(store, key, { span, wait: 1500, lease: "2s" }) : whole;
    return {
      reported: [],
      async seed() {
        await Promise.all(SEEDED.map((value) => whole.addAndGetStats(value)));
      },
      asks: {
        stats: () => window.stats(),
        addAndGetStats: () => window.addAndGetStats(1),
        "addAndGetStats again": () => window.addAndGetStats(2),
      },
      async check() {
        const { count, sum } = await window.stats();
        const added = await window.addAndGetStats(6);
        expectEqual("locked window", [added.count - count, added.sum - sum], [1, 6]);
      },
      close: async () => {},
    };
  },
};

export const series = seriesSubject("series", {});
export const eventSeries = seriesSubject("series by event time", { clock: "event", values: "float64" });
export const sealedSeries = seriesSubject("series with sealed chunks", {}, true);
