import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters, targetOf } from "../../src/counters/counter/counters.ts";
import { CountersDoctor, type RepairOptions } from "../../src/counters/drain/doctor.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import type { Sink } from "../../src/entries/sql.ts";
import type { Store } from "../../src/store/contract.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { Random } from "../simulator/world/random.ts";
import { snapshotOf } from "./snapshot.ts";
import { STAGES, type Stage } from "./stages.ts";

const SHARDS = 4;
const AT = Date.UTC(2026, 1, 28, 23, 50);
const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const rounds = Number(process.env.ORIEL_DOCTOR_ROUNDS ?? 12);
let server: RedisServer;
let raw: Redis;
let store: Store;
let stage: Stage;
let sink: Sink;
let names = 0;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  store = redisStore(server.url);
  stage = await STAGES.SQLite!();
});
beforeEach(async () => {
  await raw.flushall();
  sink = stage.sink({ table: `counts_${++names}`, ledgerTable: `ledger_${names}` });
  await sink.createTables(counters().shape);
});
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await Promise.all([stage?.stop(), server?.stop()]);
});

const counters = () => new Counters(store, `doctor ${names}`, { dimensions: ["id"], shards: SHARDS });
const drain = (of: Counters) => new DrainService({ counters: of, sink });
const doctor = () => new CountersDoctor(counters(), sink);
const verdicts = async () => (await doctor().diagnose()).map(({ verdict }) => verdict);
const all = (verdict: string) => Array(SHARDS).fill(verdict);
const again = (options: RepairOptions) => (error: { transient?: boolean }) =>
  error.transient ? repaired(options) : Promise.reject(error);
const repaired = (options: RepairOptions): Promise<unknown> => doctor().repair(options).catch(again(options));
const ids = (prefix: string, count = 40) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const add = (flow: Counters, names: readonly string[]) => Promise.all(names.map((id) => flow.add({ id }, { at: AT })));
/** Each id's count, in store and table. */
async function countsOf(flow: Counters): Promise<Map<string, bigint>> {
  return new Map((await flow.read({ table: sink, bigint: true })).map(({ values, count }) => [values.id!, count]));
}
async function drained(flow: Counters): Promise<void> {
  // IdleMarks that were silent may still give back what the store lost.
  for (let i = 0; i < 3 || (i < 20 && (await flow.read()).length > 0); i++)
    expect(await drain(flow).drainOnce()).toMatchObject({ failed: 0, diverged: 0 });
  expect(await flow.read()).toEqual([]);
}
const snapshot = () => snapshotOf(raw, targetOf(counters()).keys);

test("a flushed store is detected and follows its table again", async () => {
  const flow = counters();
  for (let i = 0; i < 3; i++) {
    await add(flow, ids("before"));
    await drain(flow).drainOnce();
  }
  expect(await verdicts()).toEqual(all("fits"));
  await raw.flushall();
  expect(await verdicts()).toEqual(all("lost"));
  const later = counters();
  await add(later, ids("after"));
  const [report] = await doctor().diagnose();
  expect(report).toMatchObject({ verdict: "lost", storeGeneration: 0, tableGeneration: 3, inDoubt: 0n });
  expect((await drain(later).drainOnce()).diverged).toBe(SHARDS);
  const repairs = await doctor().repair();
  expect(repairs.map(({ isRepaired, dropped }) => [isRepaired, dropped])).toEqual(Array(SHARDS).fill([true, 0n]));
  const wanted = new Map([
    ...ids("before").map((id) => [id, 3n] as const),
    ...ids("after").map((id) => [id, 1n] as const),
  ]);
  expect(await countsOf(later)).toEqual(wanted);
  await drained(later);
  expect(await countsOf(later)).toEqual(wanted);
  expect(await doctor().repair()).toEqual([]);
});

test("events sent again after the loss count once, before and after the repair", async () => {
  for (const isSilent of [false, true]) {
    const flow = counters();
    await add(flow, ids("a"));
    await drain(flow).drainOnce();
    await add(flow, ids("b"));
    await raw.flushall();
    if (!isSilent) await add(flow, ids("c"));
    expect((await doctor().repair()).every(({ isRepaired }) => isRepaired)).toBe(true);
    await add(flow, ids("d"));
    await drained(flow);
    const counts = await countsOf(flow);
    // "b" was in no table: the producer has brought it back.
    for (const id of [...ids("a"), ...ids("b"), ...ids("d"), ...(isSilent ? [] : ids("c"))])
      expect([id, counts.get(id)]).toEqual([id, 1n]);
    await raw.flushall();
    sink = stage.sink({ table: `counts_${++names}`, ledgerTable: `ledger_${names}` });
    await sink.createTables(counters().shape);
  }
});

test("a restored store: uncertain counts are dropped or kept as requested; later ones count", async () => {
  for (const [inDoubt, snapshotCount] of [
    ["drop", 1n],
    ["keep", 2n],
  ] as const) {
    const flow = counters();
    await add(flow, ids("a"));
    const setBack = await snapshot();
    await drain(flow).drainOnce();
    await add(flow, ids("b"));
    await drain(flow).drainOnce();
    await setBack();
    const later = counters();
    await add(later, ids("c"));
    expect((await drain(later).drainOnce()).diverged).toBe(SHARDS);
    await add(later, ids("d"));
    expect(await verdicts()).toEqual(all("set-back"));
    const repairs = await doctor().repair();
    expect(repairs.map(({ isRepaired, after }) => [isRepaired, after.verdict])).toEqual(
      Array(SHARDS).fill([false, "set-back"]),
    );
    expect(repairs.reduce((sum, { before }) => sum + before.inDoubt, 0n)).toBe(80n);
    expect((await doctor().repair({ inDoubt })).every(({ isRepaired }) => isRepaired)).toBe(true);
    await drained(later);
    const counts = await countsOf(later);
    for (const id of ids("a")) expect(counts.get(id)).toBe(snapshotCount);
    for (const id of ids("c")) expect(counts.get(id)).toBe(inDoubt === "keep" ? 1n : undefined);
    for (const id of [...ids("b"), ...ids("d")]) expect(counts.get(id)).toBe(1n);
    await raw.flushall();
    sink = stage.sink({ table: `counts_${++names}`, ledgerTable: `ledger_${names}` });
    await sink.createTables(counters().shape);
  }
});

test("a table that is behind or foreign is left alone, unless its missing counts are given up", async () => {
  const flow = counters();
  await add(flow, ids("a"));
  await drain(flow).drainOnce();
  await add(flow, ids("b"));
  sink = stage.sink({ table: `counts_${names}b`, ledgerTable: `ledger_${names}b` });
  await sink.createTables(flow.shape);
  expect(await verdicts()).toEqual(all("table-behind"));
  expect((await doctor().repair()).some(({ isRepaired }) => isRepaired)).toBe(false);
  expect(await verdicts()).toEqual(all("table-behind"));
  expect((await doctor().repair({ acceptMissing: true })).every(({ isRepaired }) => isRepaired)).toBe(true);
  await drained(flow);
  expect(await countsOf(flow)).toEqual(new Map(ids("b").map((id) => [id, 1n])));
});

test("a key that is no shard is set aside with all its bytes, and the other shards continue", async () => {
  const flow = counters();
  await add(flow, ids("a"));
  await drain(flow).drainOnce();
  const [first, second, third] = targetOf(flow).keys as [string, string, string];
  await raw.set(first, "nonsense");
  await raw.hset(second, "@cur", "x\ny");
  await raw.hset(third, "@layout", "1|4|minute|UTC|other");
  expect(await verdicts()).toEqual(["damaged", "damaged", "other-layout", "fits"]);
  expect(await drain(flow).drainOnce()).toMatchObject({ failed: 3, diverged: 0 });
  expect((await doctor().repair()).some(({ isRepaired }) => isRepaired)).toBe(false);
  const repairs = await doctor().repair({ setAside: true });
  expect(repairs.map(({ isRepaired }) => isRepaired)).toEqual([true, true, true]);
  expect(await raw.get(repairs[0]!.aside!)).toBe("nonsense");
  expect(await raw.hget(repairs[1]!.aside!, "@cur")).toBe("x\ny");
  const later = counters();
  await add(later, ids("b"));
  await drained(later);
  expect(await countsOf(later)).toEqual(new Map([...ids("a"), ...ids("b")].map((id) => [id, 1n])));
});

test("an inconsistent generation counts by its rows, if requested", async () => {
  const flow = counters();
  await add(flow, ids("a"));
  for (const key of targetOf(flow).keys) await raw.hincrby(key, "@n:1", 5);
  expect((await drain(flow).drainOnce()).diverged).toBe(SHARDS);
  expect(await doctor().repair({})).toEqual([]);
  expect(await doctor().repair({ mendSums: true })).toHaveLength(SHARDS);
  await drained(flow);
  expect(await countsOf(flow)).toEqual(new Map(ids("a").map((id) => [id, 1n])));
});

test(`live producers, drains and two operators, through losses (seed ${seed})`, async () => {
  const random = new Random(seed);
  const options: RepairOptions = { inDoubt: "drop" };
  let isOver = false;
  let losses = 0;
  let id = 0;
  /** By id: losses that were over when it was sent, and that had begun when it was acknowledged. */
  const sent = new Map<string, { after: number; until: number | undefined }>();
  let begun = 0;
  const produce = async (flow: Counters) => {
    const name = `e${++id}`;
    const event = { after: losses, until: undefined as number | undefined };
    sent.set(name, event);
    await flow.add({ id: name }, { at: AT }).then(
      () => {
        event.until = begun;
      },
      () => {},
    );
  };
  const live = async (work: () => Promise<unknown>) => {
    while (!isOver) {
      await work();
      await new Promise((resolve) => setTimeout(resolve, random.int(0, 4)));
    }
  };
  const flows = [counters(), counters(), counters()];
  const producing = flows.map((flow) => live(() => produce(flow)));
  const fresh = live(async () => {
    const flow = counters();
    await produce(flow);
    await flow.close();
  });
  const draining = [drain(counters()), drain(counters())].map((one) => live(() => one.drainOnce().catch(() => {})));
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, random.int(20, 120)));
    begun++;
    await raw.flushall();
    losses++;
    if (random.chance(0.3)) continue; // another one before the repair
    await new Promise((resolve) => setTimeout(resolve, random.int(0, 60)));
    await Promise.all([repaired(options), repaired(options)]);
  }
  await Promise.all(flows.map(produce));
  isOver = true;
  await Promise.all([...producing, fresh, ...draining]);
  await Promise.all(flows.map((one) => one.close()));
  const flow = counters();
  await repaired(options);
  await drained(flow);
  const counts = await countsOf(flow);
  const wrong = [...sent].filter(([name, { after, until }]) => {
    const count = counts.get(name) ?? 0n;
    return count > 1n || (after === losses && until === begun && count !== 1n);
  });
  expect(wrong.map(([name, event]) => [name, event, counts.get(name)])).toEqual([]);
  expect([...sent.values()].filter(({ after, until }) => after === losses && until === begun).length).toBeGreaterThan(
    0,
  );
});
