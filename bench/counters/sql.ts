import type { CounterShape, DrainRow } from "../../src/entries/sql.ts";
import { median, operationsPerSecond, runSlice } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { benchMariadb, benchPostgres, type Durability, type SqlDatabase, type SqlLink } from "./sql-databases.ts";

export interface SqlBenchOptions {
  loads: { connections: number; durability: Durability }[];
  /** Rows in a batch of one shard. */
  batchRows: number;
  turns: number;
  sliceMs: number;
}

export const FULL_SQL: SqlBenchOptions = {
  loads: [
    { connections: 1, durability: "default" },
    { connections: 10, durability: "relaxed" },
  ],
  batchRows: 10_000,
  turns: 5,
  sliceMs: 600,
};
export const SMALL_SQL: SqlBenchOptions = { ...FULL_SQL, batchRows: 100, turns: 1, sliceMs: 20 };

const SHAPE: CounterShape = { name: "passages", dimensions: ["site", "lane", "direction"], buckets: ["minute"] };
const START_MS = Date.UTC(2026, 0, 1);
const OURS = "oriel";
const RIVAL = "UPDATE, then INSERT, per row";
/** Keys of the rival writer's minute. For both writers half of the rows are new and half exist. */
const RIVAL_KEYS = 40;

/** Counts into a table with oriel's sinks in batches, and row by row, on the same database. */
export async function benchSql(options: SqlBenchOptions): Promise<Report> {
  const rows: Row[] = [];
  for (const start of [benchPostgres, benchMariadb]) {
    const database = await start();
    try {
      for (const load of options.loads) rows.push(...(await measure(database, load, options)));
    } finally {
      await database.stop();
    }
  }
  return {
    bench: "sql",
    title: `Rows a second into a table of three dimensions (batches of ${options.batchRows.toLocaleString("en-US")} rows)`,
    rows,
    notes: [
      "Half of the rows are new, half exist. Both write to the same database in turns. Every sum was checked.",
      "durability: default is a commit on the disk; relaxed is synchronous_commit off, innodb_flush_log_at_trx_commit 2.",
      "timesSlower: oriel's rows per second over this line's, median over the turns.",
    ],
  };
}

async function measure(database: SqlDatabase, load: SqlBenchOptions["loads"][number], options: SqlBenchOptions) {
  const { connections, durability } = load;
  const link = await database.link(connections, durability);
  const table = (writer: string) => `${writer}_${connections}`;
  try {
    const writers = { [OURS]: await ours(link, table("ours"), options), [RIVAL]: await rival(link, table("rival")) };
    const speeds: Record<string, number[]> = { [OURS]: [], [RIVAL]: [] };
    for (let turn = 0; turn <= options.turns; turn++)
      for (const [name, { call, rows }] of Object.entries(writers)) {
        const slice = await runSlice(
          { callers: connections, sliceMs: options.sliceMs, minOperations: 2 },
          (_, caller) => call(caller),
        );
        if (turn > 0) speeds[name]?.push(operationsPerSecond(slice) * rows); // the first one warms up
      }
    for (const [name, { added }] of [["ours", writers[OURS]!] as const, ["rival", writers[RIVAL]!] as const]) {
      const sum = await link.sum(table(name));
      if (sum !== added())
        throw new Error(`${database.name}: the sum of ${table(name)} is ${sum}; right is ${added()}`);
    }
    return [OURS, RIVAL].map((writer) => ({
      database: database.name,
      durability,
      connections,
      writer,
      rowsPerSecond: median(speeds[writer]!),
      timesSlower: median(speeds[OURS]!.map((speed, turn) => speed / speeds[writer]![turn]!)),
    }));
  } finally {
    await link.close();
  }
}

/** Each caller drains the generations of its shard one after the other. */
async function ours(link: SqlLink, table: string, { batchRows }: SqlBenchOptions) {
  const sink = link.sink({ table, ledgerTable: `${table}_ledger` });
  await sink.createTables(SHAPE);
  const generations: number[] = [];
  let added = 0n;
  const call = async (shard: number) => {
    const generation = (generations[shard] ?? 0) + 1;
    generations[shard] = generation;
    const startMs = START_MS + ((generation - 1) >> 1) * 60_000;
    const rows: DrainRow[] = Array.from({ length: batchRows }, (_, i) => ({
      bucket: "minute",
      startMs,
      values: [`site ${shard} ${i >> 3}`, `lane ${(i >> 1) & 3}`, i & 1 ? "in" : "out"],
      count: 3n,
    }));
    const events = 3n * BigInt(batchRows);
    const batch = { shard, generation, nonce: `n${generation}`, fence: 1, events, rows };
    const { status } = await sink.apply(SHAPE, batch, { timeoutMs: 30_000 });
    if (status !== "applied") throw new Error(`generation ${generation} of shard ${shard}: ${status}`);
    added += events;
    return true;
  };
  return { call, rows: batchRows, added: () => added };
}

async function rival(link: SqlLink, table: string) {
  await link.sink({ table, ledgerTable: `${table}_ledger` }).createTables(SHAPE);
  const adds = await link.perRow(table);
  const calls: number[] = [];
  let added = 0n;
  const call = async (caller: number) => {
    const i = calls[caller] ?? 0;
    calls[caller] = i + 1;
    const key = i % RIVAL_KEYS;
    const startMs = START_MS + Math.floor(i / (2 * RIVAL_KEYS)) * 60_000;
    await adds[caller]!(`site ${caller} ${key >> 3}`, `lane ${(key >> 1) & 3}`, key & 1 ? "in" : "out", startMs, 3);
    added += 3n;
    return true;
  };
  return { call, rows: 1, added: () => added };
}
