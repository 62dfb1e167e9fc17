import { expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { CountersDoctor, DrainService, memoryStore, type OrielError } from "../../../src/entries/index.ts";
import { mysqlSink, postgresSink, type Sink, sqliteSink } from "../../../src/entries/sql.ts";
import { freePort } from "../../harness/servers/redis-server.ts";
import { mysql, pg, Sqlite } from "../sql/clients.ts";

const SECRET = "planted-secret";

/** Databases that cannot be used: nobody listens there, or the database was closed. */
const SINKS: Record<string, () => Promise<{ sink: Sink; end?: () => unknown }>> = {
  async postgresSink() {
    const pool = new pg.Pool({ connectionString: `postgres://ann:${SECRET}@127.0.0.1:${await freePort()}/a` });
    return { sink: postgresSink(pool), end: () => pool.end() };
  },
  async mysqlSink() {
    const pool = mysql.createPool({ host: "127.0.0.1", port: await freePort(), user: "ann", password: SECRET });
    return { sink: mysqlSink(pool), end: () => pool.end() };
  },
  async sqliteSink() {
    const database = new Sqlite(":memory:");
    database.close();
    return { sink: sqliteSink(database) };
  },
};

const CALLS: Record<string, (counters: Counters, sink: Sink) => Promise<unknown>> = {
  'DrainService "c" start': (counters, sink) => new DrainService({ counters, sink }).start(),
  'DrainService "c" drainOnce': (counters, sink) => new DrainService({ counters, sink }).drainOnce(),
  'CountersDoctor "c" diagnose': (counters, sink) => new CountersDoctor(counters, sink).diagnose(),
  'CountersDoctor "c" repair': (counters, sink) => new CountersDoctor(counters, sink).repair(),
  'Counters "c" read': (counters, table) => counters.read({ table }),
  "$sink createTables": ({ shape }, sink) => sink.createTables(shape),
  "$sink ledger": ({ shape }, sink) => sink.ledger(shape),
  "$sink read": ({ shape }, sink) => sink.read(shape, { bucket: "minute" }),
  "$sink apply": ({ shape }, sink) =>
    sink.apply(shape, { shard: 0, generation: 1, nonce: "n", fence: 0, events: 0n, rows: [] }),
};

test.each(Object.keys(SINKS))(
  "%s: a query of an unreachable database names the database, not the store",
  async (name) => {
    const { sink, end } = await SINKS[name]!();
    const store = { ...memoryStore(), address: "127.0.0.1:6379" };
    const counters = new Counters(store, "c", { dimensions: ["a"], shards: 1 });
    for (const [called, call] of Object.entries(CALLS)) {
      async function theCaller() {
        await call(counters, sink);
      }
      const error = await theCaller().then(
        () => expect.fail(called),
        (reason: OrielError) => reason,
      );
      const place = `${called.replace("$sink", name)}: `;
      expect(error.message.slice(0, place.length)).toBe(place);
      expect(error.message.slice(place.length)).toMatch(/^the database failed in "\w+": .*(ECONNREFUSED|closed)/);
      expect(error.message).not.toMatch(/redis at|planted/);
      expect(error).toMatchObject({ name: "OrielError", code: "UNAVAILABLE", applied: "no" });
      expect(error.stack, called).toContain("theCaller");
    }
    await store.close();
    await end?.();
  },
);

test("failures of a drain are emitted to its listeners under its name", async () => {
  const { sink, end } = await SINKS.postgresSink!();
  const counters = new Counters(memoryStore(), "c", { dimensions: ["a"], shards: 1 });
  const drain = new DrainService({ counters, sink: { ...sink, createTables: async () => {} } });
  const reported = new Promise<OrielError>((resolve) => drain.on("error", ({ error }) => resolve(error as OrielError)));
  await drain.start();
  expect((await reported).message).toMatch(/^DrainService "c" drain: the database failed in "ledger": .*ECONNREFUSED/);
  await drain.stop();
  await end?.();
});
