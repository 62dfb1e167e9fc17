import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mysqlSink, postgresSink, type Sink } from "../../../src/entries/sql.ts";
import { type SqlProxy, startSqlProxy } from "../../harness/network/sql-proxy.ts";
import type { DatabaseServer } from "../../harness/servers/database.ts";
import { startMariadb } from "../../harness/servers/mariadb.ts";
import { startPostgres } from "../../harness/servers/postgres.ts";
import { until } from "../../harness/until.ts";
import { batch, freshShape, row } from "./batches.ts";
import { mysql, pg } from "./clients.ts";

/** A server behind a proxy, one pool of two connections through it and one connection beside it. */
interface Scene {
  server: DatabaseServer;
  proxy: SqlProxy;
  sink: Sink;
  /** The pool's connections that are in use. */
  inUse(): number;
  /** Runs a statement of the pool, as the user's own. */
  mine(text: string): Promise<Record<string, unknown>[]>;
  /** Runs a statement on a connection of its own, past the proxy, which stays between statements. */
  beside(text: string): Promise<Record<string, unknown>[]>;
  /** Bytes of a packet that is COMMIT, and of no other. */
  commit: string;
  /** A statement that counts, as n, who waits for a lock. */
  waiting: string;
  quote: string;
  /** A statement of the pool that shows a session's time-outs. */
  settings: string;
  stop(): Promise<void>;
}

const SCENES: Record<string, () => Promise<Scene>> = {
  PostgreSQL: async () => {
    const server = await startPostgres();
    const proxy = await startSqlProxy(server.port);
    const pool = new pg.Pool({ connectionString: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`, max: 2 });
    pool.on("error", () => {});
    let other: pg.Client | undefined;
    const beside = async (text: string) => {
      if (!other) {
        other = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${server.port}/postgres` });
        other.on("error", () => {
          other = undefined;
        });
        await other.connect();
      }
      return (await other.query(text)).rows;
    };
    return {
      server,
      proxy,
      commit: "COMMIT\0",
      waiting: "SELECT count(*) AS n FROM pg_locks WHERE NOT granted",
      sink: postgresSink(pool),
      inUse: () => pool.totalCount - pool.idleCount,
      mine: async (text) => (await pool.query(text)).rows,
      beside,
      quote: '"',
      settings: "SELECT current_setting('statement_timeout') || current_setting('lock_timeout') AS found",
      stop: async () => {
        await other?.end();
        await pool.end();
        await proxy.close();
        await server.stop();
      },
    };
  },
  MariaDB: async () => {
    const server = await startMariadb();
    const proxy = await startSqlProxy(server.port);
    const address = { host: "127.0.0.1", user: "root", database: "oriel" };
    const pool = mysql.createPool({ ...address, port: proxy.port, connectionLimit: 2 });
    const raw = pool.pool as unknown as { _allConnections: { length: number }; _freeConnections: { length: number } };
    let other: mysql.Connection | undefined;
    const beside = async (text: string) => {
      if (!other) {
        other = await mysql.createConnection({ ...address, port: server.port });
        other.on("error", () => {
          other = undefined;
        });
      }
      return (await other.query(text))[0] as Record<string, unknown>[];
    };
    return {
      server,
      proxy,
      commit: "\x03COMMIT",
      waiting: "SELECT COUNT(*) AS n FROM information_schema.innodb_lock_waits",
      sink: mysqlSink(pool),
      inUse: () => raw._allConnections.length - raw._freeConnections.length,
      mine: async (text) => (await pool.query(text))[0] as Record<string, unknown>[],
      beside,
      quote: "`",
      settings: "SELECT CONCAT(@@innodb_lock_wait_timeout, ' ', @@max_statement_time) AS found",
      stop: async () => {
        other?.destroy();
        await pool.end();
        await proxy.close();
        await server.stop();
      },
    };
  },
};

describe.each(Object.keys(SCENES))("a sink into %s", (name) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await SCENES[name]!();
  });
  afterAll(() => scene.stop());

  /** MariaDB answers from a copy while it is asked more often than each 100 ms. */
  const untilWaiting = (count: number) =>
    until(
      "locks are waited for",
      async () => Number((await scene.beside(scene.waiting))[0]?.n) >= count,
      undefined,
      150,
    );
  const first = batch([row(["a", "1"], 1n), row(["b", "1"], 2n)]);
  const second = batch([row(["a", "1"], 10n), row(["b", "1"], 20n)], { generation: 2, nonce: "b2" });

  async function made() {
    const shape = freshShape();
    const { sink } = scene;
    await sink.createTables(shape);
    await sink.apply(shape, first);
    const counts = async () => (await sink.read(shape, { bucket: "minute" })).rows.map(({ count }) => Number(count));
    const { quote } = scene;
    const lockRow = `SELECT * FROM ${quote}${shape.name}_counts${quote} WHERE ${quote}site${quote} = 'b' FOR UPDATE`;
    return { sink, shape, counts, lockRow };
  }

  test.each(["cut", "silence"] as const)(
    'answers "before" to a retry if the answer to COMMIT was lost (%s)',
    async (how) => {
      const { sink, shape, counts } = await made();
      const lost = scene.proxy.loseAnswerTo(scene.commit, how);
      const failed = sink.apply(shape, second, { timeoutMs: how === "cut" ? 20_000 : 3000 });
      await expect(failed).rejects.toMatchObject({ name: "OrielError", transient: true, applied: "unknown" });
      await lost;
      expect(scene.inUse()).toBe(0);
      expect(await sink.apply(shape, second, { timeoutMs: 5000 })).toEqual({ status: "already-applied" });
      expect(await counts()).toEqual([11, 22]);
    },
  );

  test("has written nothing if its connection is lost before COMMIT", async () => {
    const { sink, shape, counts } = await made();
    const lost = scene.proxy.loseAnswerTo("_counts");
    const failed = sink.apply(shape, second, { timeoutMs: 5000 });
    await expect(failed).rejects.toMatchObject({ code: "UNAVAILABLE", transient: true, applied: "no" });
    await lost;
    expect(await sink.apply(shape, second, { timeoutMs: 5000 })).toEqual({ status: "applied" });
    expect(await counts()).toEqual([11, 22]);
  });

  test("gives up at a foreign lock, is rolled back, and succeeds once the lock is gone", async () => {
    const { sink, shape, counts, lockRow } = await made();
    const before = await scene.mine(scene.settings);
    await scene.beside("BEGIN");
    await scene.beside(lockRow);
    const failed = sink.apply(shape, second, { timeoutMs: 600 });
    await expect(failed).rejects.toMatchObject({ code: "DEADLINE", transient: true, applied: "no" });
    expect(await counts()).toEqual([1, 2]);
    expect(await sink.ledger(shape)).toMatchObject([{ generation: 1, events: 3n }]);
    await scene.beside("ROLLBACK");
    expect(await sink.apply(shape, second, { timeoutMs: 5000 })).toEqual({ status: "applied" });
    expect(await counts()).toEqual([11, 22]);
    expect(await scene.mine(scene.settings)).toEqual(before);
  });

  test("ends at once by its signal: the connection is closed and nothing written", async () => {
    const { sink, shape, counts, lockRow } = await made();
    await scene.beside("BEGIN");
    await scene.beside(lockRow);
    const abort = new AbortController();
    const failed = sink.apply(shape, second, { timeoutMs: 20_000, signal: abort.signal });
    await untilWaiting(1);
    abort.abort(new Error("stop now"));
    await expect(failed).rejects.toMatchObject({
      code: "UNAVAILABLE",
      transient: true,
      applied: "no",
      cause: { message: "stop now" },
    });
    expect(scene.inUse()).toBe(0);
    await scene.beside("ROLLBACK");
    expect(await sink.apply(shape, second, { timeoutMs: 10_000 })).toEqual({ status: "applied" });
    expect(await counts()).toEqual([11, 22]);
    const aborted = sink.apply(shape, second, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ applied: "no" });
  });

  test("waits for a connection for its time only, and returns one that comes late", async () => {
    const { sink, shape, counts, lockRow } = await made();
    await scene.beside("BEGIN");
    await scene.beside(lockRow);
    const abort = new AbortController();
    const holders = [0, 1].map(() => sink.apply(shape, second, { signal: abort.signal }).catch(() => {}));
    await untilWaiting(2);
    await expect(sink.ledger(shape, { timeoutMs: 50 })).rejects.toMatchObject({ code: "DEADLINE", applied: "no" });
    abort.abort();
    await Promise.all(holders);
    await scene.beside("ROLLBACK");
    await until("what came late is given back", () => scene.inUse() === 0);
    expect(await counts()).toEqual([1, 2]);
  });

  test("survives kill -9 of the server in the middle of a transaction", async () => {
    const { sink, shape, counts, lockRow } = await made();
    await scene.beside("BEGIN");
    await scene.beside(lockRow);
    const failed = sink.apply(shape, second, { timeoutMs: 20_000 }).catch((error: unknown) => error);
    await untilWaiting(1);
    await scene.server.kill9();
    expect(await failed).toMatchObject({ name: "OrielError", transient: true, applied: "no" });
    await expect(sink.apply(shape, second, { timeoutMs: 5000 })).rejects.toMatchObject({
      transient: true,
      applied: "no",
    });
    await scene.server.restart();
    await until(
      "it takes the batch",
      async () => (await sink.apply(shape, second, { timeoutMs: 5000 })).status === "applied",
    );
    expect(await counts()).toEqual([11, 22]);
    expect(await sink.ledger(shape)).toMatchObject([{ generation: 2, events: 33n }]);
  });
});
