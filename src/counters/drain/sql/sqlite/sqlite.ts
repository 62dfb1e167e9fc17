import { pause } from "../../../../base/async/timers.ts";
import type { OrielError } from "../../../../base/errors.ts";
import { argumentError } from "../../../../base/errors.ts";
import type { CounterShape } from "../../../counter/table.ts";
import { conditions, counterRow, type Fields, ledgerRow } from "../answers.ts";
import { CallDeadline } from "../call-deadline.ts";
import { checkOptions, type Layout, layoutOf, ledgerColumns, type SinkOptions } from "../layout.ts";
import { ledgerRefusal, namedSink } from "../named-sink.ts";
import { checkBatch, keyedRows } from "../rows.ts";
import type { ApplyResult, Sink, SinkCallOptions } from "../sink.ts";
import { explain, type Failure } from "../transaction.ts";
import { SQLITE, type SqliteTexts, sqliteRead, sqliteTexts } from "./sqlite-text.ts";

/** The common part of better-sqlite3's Database, node:sqlite's DatabaseSync and node-sqlite3-wasm's Database. */
export interface SqliteDatabase {
  exec(text: string): unknown;
  prepare(text: string): SqliteStatement;
}

/** The part of a prepared statement of SQLite that the sink uses. */
export interface SqliteStatement {
  run(parameter: string): unknown;
  all(parameter: string): unknown[];
  finalize?(): void;
}

/** The pause between two attempts to lock a database that another connection has locked. */
const PAUSE_MS = 5;

/**
 * Drains into SQLite (3.38 or later). The drivers are synchronous. A batch blocks the event loop while it is written,
 * and for the driver's busy time-out while another process writes.
 */
export function sqliteSink(database: SqliteDatabase, options: SinkOptions = {}): Sink {
  return namedSink("sqliteSink", () => sinkOf(database, options));
}

function sinkOf(database: SqliteDatabase, options: SinkOptions): Sink {
  checkOptions(options);
  if (database === null || typeof database !== "object")
    throw argumentError("database", database, "a database of better-sqlite3, node:sqlite or node-sqlite3-wasm");
  const plans = new WeakMap<CounterShape, { layout: Layout; texts: SqliteTexts }>();
  const planOf = (shape: CounterShape) => {
    let plan = plans.get(shape);
    if (!plan) {
      const layout = layoutOf(shape, options, SQLITE);
      plan = { layout, texts: sqliteTexts(layout, ledgerColumns(SQLITE)) };
      plans.set(shape, plan);
    }
    return plan;
  };
  const use = <T>(text: string, call: (statement: SqliteStatement) => T): T => {
    const statement = database.prepare(text);
    try {
      return call(statement);
    } finally {
      statement.finalize?.();
    }
  };
  const all = (text: string, parameter: unknown) =>
    use(text, (statement) => statement.all(JSON.stringify(parameter)) as Fields[]);
  const ledgerOf = ({ ledger }: SqliteTexts, { name }: CounterShape) => all(ledger, [name]).map(ledgerRow);

  return {
    ddl: (shape) => planOf(shape).texts.ddl,

    createTables(shape, limits = {}) {
      const { ddl } = planOf(shape).texts;
      return transaction("createTables", database, "BEGIN IMMEDIATE", limits, () => {
        for (const text of ddl) database.exec(text);
      });
    },

    async apply(shape, batch, limits = {}) {
      checkBatch(batch);
      const { texts } = planOf(shape);
      const rows = keyedRows(shape, batch.rows);
      const { shard, generation, nonce, fence, events } = batch;
      return transaction("apply", database, "BEGIN IMMEDIATE", limits, (): ApplyResult => {
        const made = all(texts.step, [shape.name, shard, generation, nonce, fence, String(events)]);
        if (made.length === 0)
          return ledgerRefusal(
            ledgerOf(texts, shape).find((row) => row.shard === shard),
            batch,
          );
        const parameter = rows.map(({ bucket, values, start, count }) => [
          bucket,
          `${start}Z`,
          ...values,
          String(count),
        ]);
        use(texts.add, (statement) => statement.run(JSON.stringify(parameter)));
        return { status: "applied" };
      });
    },

    ledger: (shape, limits = {}) => {
      const { texts } = planOf(shape);
      return transaction("ledger", database, "BEGIN", limits, () => ledgerOf(texts, shape));
    },

    async read(shape, query, limits = {}) {
      const { layout, texts } = planOf(shape);
      const asked = conditions(shape, query);
      return transaction("read", database, "BEGIN", limits, () => ({
        ledger: ledgerOf(texts, shape),
        rows: all(
          sqliteRead(layout, asked),
          asked.map(({ column, value }) => (column === "start" ? `${value}Z` : value)),
        ).map((fields) => counterRow(shape, query, fields)),
      }));
    },
  };
}

/** Runs one transaction without a turn of the event loop in between. Waits while the database is locked. */
async function transaction<T>(
  what: string,
  database: SqliteDatabase,
  begin: string,
  limits: SinkCallOptions,
  work: () => T,
): Promise<T> {
  const stop = new CallDeadline(what, limits);
  try {
    for (;;) {
      if (stop.reason) throw stop.reason;
      try {
        return attempt(what, database, begin, work);
      } catch (error) {
        if (!isBusy((error as OrielError).cause) || stop.leftMs === 0) throw error;
      }
      await stop.race(pause(PAUSE_MS));
    }
  } finally {
    stop.close();
  }
}

function attempt<T>(what: string, database: SqliteDatabase, begin: string, work: () => T): T {
  let applied: "no" | "unknown" = "no";
  try {
    database.exec(begin);
    try {
      const value = work();
      applied = "unknown";
      database.exec("COMMIT");
      return value;
    } catch (error) {
      // A COMMIT that readers blocked has not happened. It is rolled back.
      if (isBusy(error)) applied = "no";
      rollBack(database);
      throw error;
    }
  } catch (error) {
    throw explain(what, error, failure, applied);
  }
}

/** Some errors have already rolled back the transaction. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {}
}

function isBusy(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
  return (
    /^SQLITE_(BUSY|LOCKED)/.test(String(code)) ||
    [5, 6].includes(Number(errcode) & 255) ||
    /database (table )?is locked/.test(String(message))
  );
}

function failure(error: unknown): Failure {
  if (isBusy(error)) return "late";
  const { message } = (error ?? {}) as { message?: unknown };
  return /disk I\/O|disk is full|within a transaction|out of memory/.test(String(message)) ? "transient" : "permanent";
}
