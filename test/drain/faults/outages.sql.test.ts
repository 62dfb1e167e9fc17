import { Cluster, Redis } from "ioredis";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import type { CycleReport, DrainEvents } from "../../../src/counters/drain/events.ts";
import { postgresSink, type Sink } from "../../../src/entries/sql.ts";
import { Lock } from "../../../src/holds/lock/lock.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type SqlProxy, startSqlProxy } from "../../harness/network/sql-proxy.ts";
import { type PostgresServer, startPostgres } from "../../harness/servers/postgres.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

const AT = Date.UTC(2026, 10, 1, 5, 59);
const shape = { dimensions: ["site"], shards: 4 };
let redis: RedisServer;
let postgres: PostgresServer;
let proxy: SqlProxy;
let pool: pg.Pool;
let raw: Redis;
let store: ReturnType<typeof redisStore>;
let flow: Counters;
let sink: Sink;
let names = 0;
let produced = 0n;
const reported: { [Name in keyof DrainEvents]?: DrainEvents[Name][] } = {};
beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis({ tcp: true }), startPostgres()]);
  proxy = await startSqlProxy(postgres.port);
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  pool = new pg.Pool({ connectionString: url, max: 4, connectionTimeoutMillis: 2000 });
  pool.on("error", () => {}); // an idle connection that a killed server has closed
  raw = new Redis(redis.url);
  store = redisStore(redis.url);
});
beforeEach(async () => {
  await raw.flushall();
  flow = new Counters(store, `outage ${++names}`, shape);
  sink = postgresSink(pool);
  await sink.createTables(flow.shape);
  produced = 0n;
});
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await pool?.end();
  await proxy?.close();
  await Promise.all([redis?.stop(), postgres?.stop()]);
});

const sum = (rows: readonly { count: bigint }[]) => rows.reduce((all, { count }) => all + count, 0n);
async function produce(events = 40): Promise<void> {
  await Promise.all(Array.from({ length: events }, (_, i) => flow.add({ site: `S${i % 20}` }, { at: AT + i * 5000 })));
  produced += BigInt(events);
}
function drainInto(table: Sink, options: { every?: number; lock?: Lock; sqlTimeout?: number } = {}): DrainService {
  const service = new DrainService({ counters: flow, sink: table, ...options });
  for (const name of ["cycle", "shard", "lag", "skipped", "superseded", "diverged", "error"] as const) {
    const list: unknown[] = [];
    reported[name] = list as never;
    service.on(name, (one) => void list.push(one));
  }
  ends.push(() => service.stop());
  return service;
}
async function expectAllDrained(): Promise<void> {
  expect(await flow.read()).toEqual([]);
  for (const bucket of ["minute", "hour", "day"] as const)
    expect(sum((await sink.read(flow.shape, { bucket })).rows)).toBe(produced);
  expect((await sink.ledger(flow.shape)).reduce((all, { events }) => all + events, 0n)).toBe(produced);
  expect(reported.diverged).toEqual([]);
}

test.each([1, 20])(
  "a database is down for %i cycles: nothing is lost, memory is bounded, and one cycle recovers",
  async (cycles) => {
    const service = drainInto(sink);
    await produce();
    await service.drainOnce();
    await postgres.kill9();
    const fields: number[] = [];
    for (let i = 0; i < cycles; i++) {
      await produce();
      await service.drainOnce().then(
        ({ failed }) => expect(failed).toBe(shape.shards),
        (error) => expect(error).toMatchObject({ name: "OrielError", transient: true }),
      );
      fields.push(
        (await Promise.all((await raw.keys("*:counts")).map((key) => raw.hlen(key)))).reduce((all, one) => all + one),
      );
    }
    await postgres.restart();
    await produce();
    await expect
      .poll(() => service.drainOnce().catch(() => ({ failed: -1 }) as CycleReport))
      .toMatchObject({ failed: 0 });
    await expectAllDrained();
    expect(Math.max(...fields)).toBeLessThanOrEqual(2 * fields[0]!); // as many as there are rows, not as events
  },
);

test("the answer to COMMIT is lost: the next cycle adds nothing again", async () => {
  let lost: Promise<void> | undefined;
  const losing: Sink = {
    ...sink,
    apply(...args) {
      lost ??= proxy.loseAnswerTo("COMMIT\0");
      return sink.apply(...args);
    },
  };
  const service = drainInto(losing);
  for (let i = 0; i < 3; i++) {
    await produce();
    const report = await service.drainOnce();
    await lost;
    lost = undefined;
    expect(report.failed).toBe(1);
    expect(reported.error?.at(-1)).toMatchObject({ error: { applied: "unknown", transient: true } });
    expect(sum(await flow.read({ table: sink, bigint: true }))).toBe(produced);
  }
  expect(reported.lag?.at(-1)?.shards).toBe(1);
  lost = Promise.resolve();
  await service.drainOnce();
  await expectAllDrained();
});

test("a row stays locked: the transaction is given up, other shards continue, and ticks are skipped", async () => {
  const service = drainInto(sink, { every: 50, sqlTimeout: 2000 });
  await produce();
  await service.drainOnce();
  await produce();
  const holder = await pool.connect();
  await holder.query("BEGIN");
  await holder.query(`SELECT * FROM "${flow.name}_counts" WHERE site = 'S1' FOR UPDATE`);
  await service.start();
  await expect.poll(() => reported.error?.length).toBeGreaterThan(0);
  await expect.poll(() => reported.skipped?.length).toBeGreaterThan(0);
  expect((await sink.read(flow.shape, { bucket: "day" })).rows.length).toBeGreaterThan(0);
  expect(new Set(reported.error!.map(({ shard }) => shard)).size).toBe(1);
  await holder.query("ROLLBACK");
  holder.release();
  await expect.poll(() => flow.read().then((rows) => rows.length)).toBe(0);
  await service.stop();
  await expectAllDrained();
});

test("a leader paused past its lease is refused, and the new one loses nothing", async () => {
  const lock = new Lock(store, `${flow.name} drain`, { watchdogLease: 6000 });
  let isAsked = false;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow: Sink = {
    ...sink,
    async apply(...args) {
      isAsked = true;
      await opened;
      const [counter, batch] = args;
      return sink.apply(counter, batch); // as if no signal had reached it
    },
  };
  const paused = drainInto(slow, { lock });
  await produce();
  const [late] = await Promise.all([
    paused.drainOnce().catch((error) => error),
    (async () => {
      await expect.poll(() => isAsked).toBe(true);
      await raw.del(await raw.keys("*:lock")); // its lease is over
      const next = new DrainService({ counters: flow, sink, lock: new Lock(store, `${flow.name} drain`) });
      await next.drainOnce();
      expect(sum((await sink.read(flow.shape, { bucket: "day" })).rows)).toBe(produced);
      open();
    })(),
  ]);
  expect(late).toBeDefined();
  await new DrainService({ counters: flow, sink }).drainOnce();
  await expectAllDrained();
});

test("an unreachable primary does not delay the shards of the others", async () => {
  const cluster = await startCluster(3);
  const client = new Cluster([cluster.url]);
  const clusterStore = redisStore(client, { deadline: 700 });
  ends.push(async () => {
    await clusterStore.close();
    client.disconnect();
    await cluster.stop();
  });
  flow = new Counters(clusterStore, flow.name, { dimensions: ["site"], shards: 12 });
  const service = drainInto(sink);
  await produce(200);
  await cluster.nodes[0]!.stop();
  const report = await service.drainOnce();
  expect(report.failed).toBe(4);
  expect(report.drained).toBeGreaterThan(4);
  expect(report.durationMs).toBeLessThan(5000);
});
