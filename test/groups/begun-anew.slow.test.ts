import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SeriesGroup, ShardedSeriesGroup } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type OpenStore, onHttp, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";
import { expectRows, type LabelledEvent } from "./contract/oracle.ts";
import { restoreKeys, type Saved, savedKeys } from "./redis-copies.ts";

/** The names of groups last at least this long, with a retention of a minute. */
const LIFETIME_MS = 260_000;

const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("record" as const),
      process: fc.nat(2),
      label: fc.nat(4),
      copies: fc.nat(2),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ask" as const), process: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.constant({ kind: "repeat" as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 5000, 59_000, 100_000, 110_000),
    }),
  },
);

describe.each([
  ["memory", onMemory],
  ["Redis", () => onRedis()],
  ["HTTP", onHttp],
] as const)("over %s", (_where, connect) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await connect();
    vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await opened?.close();
  });
  beforeEach(() => opened.clear());

  /** Copies of requests that come late, and the time of the server. */
  function repeating() {
    const sent: (() => Promise<unknown>)[] = [];
    const { store } = opened;
    const repeated: Store = {
      ...store,
      monotonic: () => opened.clock.nowMs,
      keyOf: (name) => store.keyOf(name),
      run(operation, key, input, options) {
        if (operation.name.startsWith("groups/")) sent.push(() => store.run(operation, key, input));
        return store.run(operation, key, input, options);
      },
    };
    return {
      store: repeated,
      repeat: () => sent.splice(0).reduce((last, each) => last.then(each), Promise.resolve<unknown>(0)),
    };
  }

  const groupOn = (store: Store, shards: number | undefined, maxGroups: number) => {
    const options = { labels: ["route"], retention: "1m", maxGroups } as const;
    return shards ? new ShardedSeriesGroup(store, "g", { ...options, shards }) : new SeriesGroup(store, "g", options);
  };

  test.each([[undefined], [2]])("labels that change with each release find a place, in %s shards", async (shards) => {
    const { store } = repeating();
    const [one, late] = [groupOn(store, shards, 6), groupOn(store, shards, 6)];
    for (let release = 0; release < 40; release++) {
      const recorded: LabelledEvent[] = [];
      for (let i = 0; i < 12; i++) {
        const labels = { route: i % 3 === 0 ? "/always" : `/${release}-${i % 3}` };
        // One process sleeps while the names begin anew several times.
        await (release % 10 === 0 && i > 5 ? late : one).record(i, labels);
        recorded.push({ t: opened.clock.nowMs, value: i, labels });
      }
      for (const group of [one, groupOn(store, shards, 1)]) {
        const answer = await group.stats({ span: "50s" });
        expect(answer).toMatchObject({ degraded: false, others: 0 });
        expectRows(answer, recorded, { by: ["route"] });
      }
      opened.clock.nowMs += LIFETIME_MS / 2;
    }
  });

  test.each([[undefined], [2]])(
    "each row has all events of its group, and _other all the rest, in %s shards",
    async (shards) => {
      let [places, others] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 120 }), async (steps) => {
          await opened.clear();
          const { store, repeat } = repeating();
          const groups = [3, 5, 4].map((most) => groupOn(store, shards, most));
          const recorded: LabelledEvent[] = [];
          const startMs = opened.clock.nowMs;
          const ask = async (group: (typeof groups)[number]) => {
            const answer = await group.stats();
            expect(answer.degradedBy).toBeUndefined();
            const kept = new Set(answer.rows.map(({ labels }) => labels.route));
            const seen = recorded.map((event) =>
              kept.has(event.labels.route!) ? event : { ...event, labels: { route: "_other" } },
            );
            expectRows(answer, seen, { by: ["route"] });
            if (answer.others > 0) others++;
            else if (new Set(recorded.map(({ labels }) => labels.route)).size > 10) places++;
          };
          for (const each of steps) {
            if (each.kind === "ask") await ask(groups[each.process]!);
            else if (each.kind === "repeat") await repeat();
            else if (each.kind === "wait") opened.clock.nowMs += each.ms;
            else {
              const release = Math.floor((opened.clock.nowMs - startMs) / 200_000);
              const labels = { route: each.label === 0 ? "/always" : `/${release}-${each.label % 3}` };
              const calls = Array.from({ length: 1 + each.copies }, () =>
                groups[each.process]!.record(each.label, labels),
              );
              await Promise.all(calls);
              for (const _ of calls) recorded.push({ t: opened.clock.nowMs, value: each.label, labels });
            }
          }
          for (const group of [...groups, groupOn(store, shards, 9)]) {
            await ask(group);
            await group.close();
          }
        }),
        { numRuns: runs(40) },
      );
      expect(places).toBeGreaterThan(0);
      expect(others).toBeGreaterThan(0);
    },
  );
});

test("names that began anew before or after a failover, or are lost, give no row an event of another group", async () => {
  const opened = await onRedis();
  vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const redis = opened.client as Redis;
  const store: Store = {
    ...opened.store,
    monotonic: () => opened.clock.nowMs,
    keyOf: (name) => opened.store.keyOf(name),
  };
  const lossy = fc.oneof(
    { weight: 9, arbitrary: step },
    { weight: 1, arbitrary: fc.constant({ kind: "save" as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("failover" as const), back: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.constantFrom({ kind: "lose" as const }, { kind: "save" as const }) },
  );
  let [whole, former] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(lossy, { minLength: 40, maxLength: 120 }), async (steps) => {
      await opened.clear();
      const open = () => new SeriesGroup(store, "g", { labels: ["route"], retention: "1m", maxGroups: 3 });
      const groups = [open(), open(), open()];
      const values = new Map<string, number>();
      const valueFor = (route: string) => {
        if (!values.has(route)) values.set(route, values.size + 1);
        return values.get(route)!;
      };
      const copies: Saved[] = [];
      const startMs = opened.clock.nowMs;
      const ask = async (group: SeriesGroup<readonly ["route"]>) => {
        const answer = await group.stats();
        for (const { labels, min, max } of answer.rows)
          if (labels.route !== "_other") expect([min, max]).toEqual([valueFor(labels.route), valueFor(labels.route)]);
        if (!answer.degraded) whole++;
      };
      for (const each of steps) {
        if (each.kind === "ask") await ask(groups[each.process]!);
        else if (each.kind === "wait") opened.clock.nowMs += each.ms;
        else if (each.kind === "save") copies.push(await savedKeys(redis));
        else if (each.kind === "failover" && copies.length > 0) {
          const copy = copies.at(-1 - (each.back % copies.length))!;
          await restoreKeys(redis, copy);
          copies.splice(copies.indexOf(copy) + 1);
        } else if (each.kind === "lose") await redis.del("oriel:{g}:groups");
        else if (each.kind === "record") {
          const route = `/${Math.floor((opened.clock.nowMs - startMs) / 200_000)}-${each.label}`;
          await groups[each.process]!.record(valueFor(route), { route });
          const bytes = await redis.getBuffer("oriel:{g}:groups");
          if (bytes && bytes.readUInt32LE(16) > 0) former++;
        }
      }
      for (const group of [...groups, open()]) {
        await ask(group);
        await group.close();
      }
    }),
    { numRuns: runs(80) },
  );
  expect(whole).toBeGreaterThan(100);
  expect(former).toBeGreaterThan(20);
  vi.restoreAllMocks();
  await opened.close();
});
