import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChunkSealer } from "../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../src/engine/journal/steps/read.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../src/engine/kernel/choose.ts";
import { METHODS } from "../../src/engine/kernel/percentile/percentile.ts";
import { ShardedSeries } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { spreadKeys } from "../../src/store/keys.ts";
import { runs } from "../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../series/contract/stores.ts";
import { type Event, expectAlike, expectStats, inside } from "../stats/oracle.ts";

const SHARDS = 3;
const NAME = "outlined";

/** Closes the open chunk of a shard, if it has one, and seals it. */
async function sealChunk(store: Store, key: string): Promise<void> {
  const { header } = await store.run(read, key, "header");
  if (!header) return;
  const { number, birth } = header;
  await store.run(rotate, key, { number, birth, nextBirth: number + 7 });
  const sealer = new ChunkSealer(store, key, () => ({ codec: jsCodec, kernel: activeKernel() }));
  expect(["sealed", "too small"]).toContain(await sealer.seal(number));
}

/** The same store. It sends the calls of one turn together, lists them as a round trip, and may lose parts of sealed chunks. */
function watched(store: Store) {
  const trips: string[][] = [];
  const changes = { left: 0 };
  let waiting: (() => void)[] = [];
  let names: string[] = [];
  const send = () => {
    trips.push(names);
    const together = waiting;
    waiting = [];
    names = [];
    for (const each of together) each();
  };
  const run: Store["run"] = async (operation, key, input, options) => {
    if (waiting.length === 0) setImmediate(send);
    names.push(operation.name);
    await new Promise<void>((resolve) => waiting.push(resolve));
    if (operation.name !== "journal/read-parts" || changes.left === 0) return store.run(operation, key, input, options);
    changes.left--;
    return undefined as never;
  };
  return {
    trips,
    changes,
    store: { ...store, monotonic: store.monotonic, leaseClock: store.leaseClock, run } as Store,
  };
}

describe.each([
  ["memory", onMemory],
  ["Redis", onRedis6],
])("a process without a copy, over %s", (_, open) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  const batches = fc.array(
    fc.record({
      size: fc.constantFrom(1, 30, 700, 2500),
      goneMs: fc.constantFrom(0, 1, 900),
      /** Shards whose chunk is sealed afterwards. */
      sealed: fc.subarray([0, 1, 2]),
      kind: fc.constantFrom("alike", "rising", "spread" as const),
    }),
    { minLength: 1, maxLength: 9 },
  );
  const asked = fc.record({
    span: fc.constantFrom(1, 901, 1801, 10_000),
    percentiles: fc.constantFrom([], [50], [99, 50, 99.9], [0, 25, 100]),
    method: fc.constantFrom(...METHODS),
    closed: fc.constantFrom("right" as const, "both" as const),
    ddof: fc.nat(1),
  });

  test("has the statistics of all shards together, from outlines of some and events of others", async () => {
    let outlined = 0;
    await fc.assert(
      fc.asyncProperty(batches, fc.array(asked, { minLength: 1, maxLength: 4 }), async (given, questions) => {
        await opened.clear();
        const { store, clock } = opened;
        const writer = new ShardedSeries(store, NAME, { shards: SHARDS, retention: "1m", values: "float64" });
        const keys = spreadKeys(store, NAME, "shard", SHARDS);
        const events: Event[] = [];
        let count = 0;
        for (const { size, goneMs, sealed, kind } of given) {
          clock.nowMs += goneMs;
          const values = Array.from({ length: size }, () => {
            count++;
            return kind === "alike" ? count % 5 : kind === "rising" ? count / 8 : ((count * 7919) % 1009) / 64;
          });
          await writer.recordMany(values);
          events.push(...values.map((value) => ({ t: clock.nowMs, value })));
          for (const i of sealed) await sealChunk(store, keys[i]!);
        }
        const answers = [];
        for (const question of questions) {
          const { store: own, trips } = watched(opened.other);
          const reader = new ShardedSeries(own, NAME, { shards: SHARDS, retention: "1m", values: "float64" });
          const answer = await reader.stats(question);
          answers.push(answer);
          const { closed, ...rest } = question;
          expectStats(answer as never, inside(events, answer.from, answer.to, closed), rest);
          if (trips.some((names) => names.includes("journal/read-parts"))) outlined++;
          await reader.close();
        }
        const together = new ShardedSeries(opened.other, NAME, { shards: SHARDS, retention: "1m", values: "float64" });
        const again = await Promise.all(questions.map((question) => together.stats(question)));
        for (const [i, answer] of again.entries()) expectAlike(answer as never, answers[i] as never);
        await Promise.all([writer.close(), together.close()]);
      }),
      { numRuns: runs(40) },
    );
    expect(outlined).toBeGreaterThan(5);
  });

  test("asks all shards at once, in at most three round trips, and reads no events of sealed chunks", async () => {
    await opened.clear();
    const { store } = opened;
    const writer = new ShardedSeries(store, NAME, { shards: SHARDS, retention: "1m" });
    const values = Array.from({ length: 60_000 }, (_, i) => ((i * 7919) % 60_013) / 8);
    for (let from = 0; from < values.length; from += 5000) await writer.recordMany(values.slice(from, from + 5000));
    for (const key of spreadKeys(store, NAME, "shard", SHARDS)) await sealChunk(store, key);
    for (const change of [0, 1, 8]) {
      const { store: own, trips, changes } = watched(opened.other);
      changes.left = change;
      const reader = new ShardedSeries(own, NAME, { shards: SHARDS, retention: "1m" });
      const answer = await reader.stats({ percentiles: [50, 90, 99] });
      expectStats(answer as never, values, { percentiles: [50, 90, 99] });
      const operations = trips.flat();
      // A chunk that changed is asked for again. If it changes again and again, the events are read.
      if (change === 0) {
        expect(trips.length).toBeLessThanOrEqual(3);
        expect(trips[0]!.filter((each) => each === "journal/read-outlines").length).toBe(SHARDS);
        expect(trips[0]).toContain("shards/agree");
        expect(trips[1]!.filter((each) => each === "journal/read-parts").length).toBeGreaterThanOrEqual(SHARDS);
      }
      expect(operations.some((each) => /read(-window)?$/.test(each))).toBe(change === 8);
      await reader.close();
    }
    await writer.close();
  });
});
