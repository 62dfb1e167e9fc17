import { pause } from "../../../../base/async/timers.ts";
import { argumentError, OrielError, show } from "../../../../base/errors.ts";
import type { CounterShape } from "../../../counter/table.ts";
import { conditions, counterRow, type Fields, ledgerRow } from "../answers.ts";
import { checkOptions, type Layout, layoutOf, ledgerColumns, type SinkOptions } from "../layout.ts";
import { ledgerRefusal, namedSink } from "../named-sink.ts";
import { checkBatch, type KeyedRow, keyedRows } from "../rows.ts";
import { longestValue } from "../shape.ts";
import type { ApplyResult, DrainBatch, Sink, SinkCallOptions } from "../sink.ts";
import { transact } from "../transaction.ts";
import { type MysqlPool, MysqlSession, mysqlFailure, rolledBack } from "./mysql-session.ts";
import { MYSQL, mysqlAdds, mysqlLedger, mysqlRead, mysqlTables } from "./mysql-text.ts";

const SNAPSHOT = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
  "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];
/** Locks rows but no gaps between them, so that shards with adjacent rows do not wait for each other. */
const WRITE = ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"];

const MAX_ATTEMPTS = 20;

type Ledger = ReturnType<typeof mysqlLedger>;

interface Plan {
  layout: Layout;
  tables: string[];
  ledger: Ledger;
  columns: MysqlColumns;
}

/**
 * Drains into MariaDB (10.6 or later) or MySQL (8.0.17 or later) through a pool of mysql2/promise. Rows are sent in
 * statements of half a megabyte. After a deadlock or a lock time-out the transaction is repeated while there is time.
 */
export function mysqlSink(pool: MysqlPool, options: SinkOptions = {}): Sink {
  return namedSink("mysqlSink", () => sinkOf(pool, options));
}

function sinkOf(pool: MysqlPool, options: SinkOptions): Sink {
  checkOptions(options);
  if (pool === null || typeof pool !== "object") throw argumentError("pool", pool, "a pool of mysql2/promise");
  const plans = new WeakMap<CounterShape, Plan>();
  const planOf = (shape: CounterShape) => {
    let plan = plans.get(shape);
    if (!plan) {
      const layout = layoutOf(shape, options, MYSQL);
      const names = ledgerColumns(MYSQL);
      const [tables, ledger] = [mysqlTables(shape, layout, names), mysqlLedger(layout, names, shape)];
      plan = { layout, tables, ledger, columns: new MysqlColumns(shape, layout) };
      plans.set(shape, plan);
    }
    return plan;
  };
  const database = { open: async () => new MysqlSession(await pool.getConnection()), failure: mysqlFailure };
  const snapshot = <T>(
    what: string,
    tables: readonly string[],
    limits: SinkCallOptions,
    work: (session: MysqlSession) => Promise<T>,
  ) =>
    transact(what, database, limits, async (session, leftMs) => {
      await checkCharset(session, tables);
      await session.begin(SNAPSHOT, leftMs);
      return work(session);
    });

  return {
    ddl: (shape) => planOf(shape).tables,

    async createTables(shape, limits = {}) {
      const { tables } = planOf(shape);
      await transact("createTables", database, limits, async (session) => {
        await checkCharset(session, tables);
        for (const text of tables) await session.send(text);
      });
    },

    async apply(shape, batch, limits = {}) {
      checkBatch(batch);
      const { layout, ledger, tables, columns } = planOf(shape);
      const rows = keyedRows(shape, batch.rows);
      return again(limits, (left) =>
        transact("apply", database, left, async (session, leftMs) => {
          await checkCharset(session, tables);
          await columns.check(session, rows);
          await session.begin(WRITE, leftMs);
          const refused = await step(session, ledger, batch);
          if (refused) return refused;
          for (const text of mysqlAdds(layout, rows)) await session.send(text);
          return { status: "applied" };
        }),
      );
    },

    async ledger(shape, limits = {}) {
      const { ledger, tables } = planOf(shape);
      return snapshot("ledger", tables, limits, async (session) => (await session.rows(ledger.read())).map(ledgerRow));
    },

    async read(shape, query, limits = {}) {
      const { layout, ledger, tables } = planOf(shape);
      const text = mysqlRead(layout, conditions(shape, query));
      return snapshot("read", tables, limits, async (session) => ({
        ledger: (await session.rows(ledger.read())).map(ledgerRow),
        rows: (await session.rows(text)).map((fields: Fields) => counterRow(shape, query, fields, fromHex)),
      }));
    },
  };
}

function fromHex(hex: string): string {
  return Buffer.from(hex, "hex").toString();
}

/** Undefined if the ledger accepted the batch. */
async function step(session: MysqlSession, ledger: Ledger, batch: DrainBatch): Promise<ApplyResult | undefined> {
  if ((await session.send(ledger.step(batch))) > 0) return undefined;
  const row = (await session.rows(ledger.read(batch.shard))).map(ledgerRow)[0];
  if (row || batch.generation > 1) return ledgerRefusal(row, batch);
  await session.send(ledger.begin(batch));
  return undefined;
}

/** Repeats a call that the server rolled back in favour of another transaction, while there is time. */
async function again<T>(limits: SinkCallOptions, call: (limits: SinkCallOptions) => Promise<T>): Promise<T> {
  const endMs = limits.timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + limits.timeoutMs;
  for (let attempt = 1; ; attempt++) {
    const leftMs = Math.ceil(endMs - performance.now());
    try {
      return await call(
        attempt === 1 ? limits : { ...limits, timeoutMs: Number.isFinite(leftMs) ? leftMs : undefined },
      );
    } catch (error) {
      const pauseMs = Math.random() * 5 * Math.min(attempt, 20);
      if (!rolledBack(error) || attempt === MAX_ATTEMPTS || endMs - performance.now() < pauseMs + 1) throw error;
      await pause(pauseMs);
    }
  }
}

/**
 * Throws ARGUMENT if names of tables and columns would reach the server changed: the driver sends statements in the
 * connection's character set, with "?" for unsupported characters. Values are written in hexadecimal.
 */
async function checkCharset(session: MysqlSession, texts: readonly string[]): Promise<void> {
  if (texts.every((text) => /^[\0-\x7f]*$/.test(text))) return;
  const [row] = await session.rows("SELECT @@SESSION.character_set_client AS charset");
  const charset = String(row?.charset);
  if (!charset.startsWith("utf8"))
    throw new OrielError(
      "ARGUMENT",
      `the character set of the connection is ${charset}, and a name of the table, the ledger or a column is not plain ` +
        "ASCII; it must be utf8mb4, or all names must be plain ASCII",
    );
}

/**
 * Checks the table of a counter with added dimensions. Throws ARGUMENT if the server would silently write other rows: a
 * key without a dimension merges rows, and a server that is not in strict mode truncates long values.
 */
class MysqlColumns {
  readonly #shape: CounterShape;
  readonly #layout: Layout;
  #isKnown = false;

  constructor(shape: CounterShape, layout: Layout) {
    this.#shape = shape;
    this.#layout = layout;
  }

  async check(session: MysqlSession, rows: readonly KeyedRow[]): Promise<void> {
    if (!this.#shape.added) return;
    const longest = longestValue(this.#shape);
    const long = rows.filter(({ values }) => values.some((value) => value.length > longest));
    if (this.#isKnown && long.length === 0) return;
    const { dimensions, table } = this.#layout;
    const columns = (await session.rows(`SHOW COLUMNS FROM ${table}`)).map(columnOf);
    for (const [i, name] of dimensions.entries()) {
      const column = columns.find((one) => one.name.toLowerCase() === name.toLowerCase());
      if (!column?.isKey) throw wrong(`${table} has no column ${name} in its primary key; it must have`);
      const found = long.find(({ values }) => values[i]!.length > column.characters)?.values[i];
      if (found !== undefined)
        throw wrong(
          `value of ${this.#shape.dimensions[i]} is ${show(found)}, of ${found.length} characters; the column ${name} of ` +
            `${table} must have room for it`,
        );
    }
    this.#isKnown = true;
  }
}

function columnOf({ Field, Type, Key }: Readonly<Record<string, unknown>>) {
  const characters = Number(/^varchar\((\d+)\)/i.exec(String(Type))?.[1] ?? Number.POSITIVE_INFINITY);
  return { name: `\`${String(Field).replaceAll("`", "``")}\``, isKey: String(Key) === "PRI", characters };
}

function wrong(what: string): OrielError {
  return new OrielError("ARGUMENT", `${what} (docs/runbook/add-a-dimension.md)`);
}
