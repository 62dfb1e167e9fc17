import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import type { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import type { DrainOptions } from "../../../src/counters/drain/options.ts";
import { postgresSink } from "../../../src/entries/sql.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { Load } from "../../counter/faults/load.ts";
import { atEnd } from "../../harness/ends.ts";
import { type PostgresServer, startPostgres } from "../../harness/servers/postgres.ts";

let tables = 0;

/** A PostgreSQL of the test file's own, there while its tests run. */
export function usePostgres(): { readonly pool: pg.Pool } {
  let server: PostgresServer | undefined;
  let pool: pg.Pool | undefined;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, max: 10 });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });
  return {
    get pool() {
      return pool!;
    },
  };
}

/** A drain into its own tables, and the events that it emits. */
export function drainInto(pool: pg.Pool, counters: Counters, options: Partial<DrainOptions> = {}) {
  const names = { table: `counts_${++tables}`, ledgerTable: `ledger_${tables}` };
  const sink = postgresSink(pool, names);
  const reported = { diverged: [] as string[], errors: [] as unknown[], cycles: 0, generations: 0 };
  /** Another drain into the same tables. */
  const open = (of = counters, more: Partial<DrainOptions> = {}) => {
    const service = new DrainService({ counters: of, sink, ...more });
    service.on("diverged", ({ shards, reason }) => {
      for (const shard of shards) reported.diverged.push(`${shard}: ${reason}`);
    });
    service.on("error", ({ error }) => void reported.errors.push(error));
    service.on("shard", () => void reported.generations++);
    service.on("cycle", () => void reported.cycles++);
    atEnd(() => service.stop());
    return service;
  };
  return { service: open(counters, options), open, sink, reported, names };
}
export type Live = ReturnType<typeof drainInto>;

/** A store whose steps wait for what is done before and after them. */
export function stepping(store: Store, { before, after }: { before?: Watch; after?: Watch }): Store {
  return {
    ...store,
    async run(operation, key, input, options) {
      await before?.(operation.name, key, input);
      const output = await store.run(operation, key, input, options);
      await after?.(operation.name, key, input);
      return output;
    },
  };
}
type Watch = (step: string, key: string, input: unknown) => Promise<void>;

/** The contents of the tables by SQL: events by bucket, and those of the ledger. */
export async function tablesOf(pool: pg.Pool, { names }: Live): Promise<Record<string, number>> {
  const { rows } = await pool.query(
    `SELECT bucket, sum(count)::text AS events FROM ${names.table} GROUP BY bucket
     UNION ALL SELECT 'ledger', sum(events)::text FROM ${names.ledgerTable}`,
  );
  return Object.fromEntries(rows.map(({ bucket, events }) => [bucket, Number(events)]));
}

/** Row by row: what was sent is in the table or the store, once; and, after a last drain, all of it in the table. */
export async function expectDrained(pool: pg.Pool, live: Live, counters: Counters, load: Load): Promise<void> {
  const buckets = ["minute", "hour", "day"] as const;
  for (const bucket of buckets) await load.check(counters, live.sink, bucket);
  const last = live.open(counters);
  for (const _ of ["what was left frozen", "what came since"])
    expect(await last.drainOnce()).toMatchObject({ failed: 0 });
  expect(live.reported.diverged).toEqual([]);
  expect(await counters.read()).toEqual([]);
  for (const bucket of buckets) await load.check(counters, live.sink, bucket);
  const tables = await tablesOf(pool, live);
  const { ledger } = tables;
  expect(tables).toEqual({ minute: ledger, hour: ledger, day: ledger, ledger });
  if (load.errors.length === 0) expect(ledger).toBe([...load.sent.values()].reduce((sum, count) => sum + count, 0));
}
