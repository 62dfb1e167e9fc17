import { argumentError, OrielError, show } from "../../../../base/errors.ts";
import type { CounterShape } from "../../../counter/table.ts";
import { conditions, counterRow, ledgerRow } from "../answers.ts";
import { checkOptions, type Layout, layoutOf, ledgerColumns, type SinkOptions } from "../layout.ts";
import { ledgerRefusal, namedSink } from "../named-sink.ts";
import { checkBatch, type KeyedRow, keyedRows } from "../rows.ts";
import type { ApplyResult, DrainBatch, Sink, SinkCallOptions } from "../sink.ts";
import { transact } from "../transaction.ts";
import { type OraclePool, OracleSession, oracleFailure, UNIQUE_VIOLATED } from "./oracle-session.ts";
import { ORACLE, type OracleTexts, oracleRead, oracleTexts, restored, rowBinds } from "./oracle-text.ts";

/** Options of `oracleSink`. */
export interface OracleSinkOptions extends SinkOptions {
  /** Number of cached keys of existing rows, which are updated at once. Default 100 000, about 10 MB. */
  knownKeys?: number | undefined;
}

interface Plan {
  layout: Layout;
  texts: OracleTexts;
  known: KnownKeys;
}

/**
 * Drains into Oracle (12.2 or later) through a pool of oracledb. Oracle has no empty text, so it is stored as "\".
 * Default names are in capitals. A batch of up to 10 000 rows with known keys takes four round trips.
 */
export function oracleSink(pool: OraclePool, options: OracleSinkOptions = {}): Sink {
  return namedSink("oracleSink", () => sinkOf(pool, options));
}

function sinkOf(pool: OraclePool, options: OracleSinkOptions): Sink {
  checkOptions(options, ["knownKeys"]);
  if (pool === null || typeof pool !== "object") throw argumentError("pool", pool, "a pool of oracledb");
  const { knownKeys = 100_000 } = options;
  if (!Number.isInteger(knownKeys) || knownKeys < 0)
    throw argumentError("knownKeys", knownKeys, "a whole number from 0");
  const plans = new WeakMap<CounterShape, Plan>();
  const planOf = (shape: CounterShape) => {
    let plan = plans.get(shape);
    if (!plan) {
      const layout = layoutOf(shape, options, ORACLE);
      const texts = oracleTexts(shape, layout, ledgerColumns(ORACLE));
      plan = { layout, texts, known: new KnownKeys(knownKeys) };
      plans.set(shape, plan);
    }
    return plan;
  };
  const database = { open: async () => new OracleSession(await pool.getConnection()), failure: oracleFailure };
  const run = <T>(what: string, limits: SinkCallOptions, work: (session: OracleSession) => Promise<T>) =>
    transact(what, database, limits, async (session, leftMs) => {
      session.limit(leftMs);
      return work(session);
    });

  return {
    ddl: (shape) => planOf(shape).texts.ddl,

    async createTables(shape, limits = {}) {
      const { ddl } = planOf(shape).texts;
      await run("createTables", limits, async (session) => {
        for (const text of ddl) await session.send(text);
      });
    },

    async apply(shape, batch, limits = {}) {
      checkBatch(batch);
      const { texts, known } = planOf(shape);
      const rows = keyedRows(shape, batch.rows);
      const answer = await run("apply", limits, async (session): Promise<ApplyResult> => {
        const refused = await step(session, texts, shape, batch);
        if (refused) return refused;
        await oracleAdd(session, texts, rows, known);
        return { status: "applied" };
      });
      // Only committed keys are known.
      if (answer.status === "applied") for (const { key } of rows) known.add(key);
      return answer;
    },

    async ledger(shape, limits = {}) {
      const { texts } = planOf(shape);
      return run("ledger", limits, async (session) => (await session.rows(texts.ledger, [shape.name])).map(ledgerRow));
    },

    async read(shape, query, limits = {}) {
      const { layout, texts } = planOf(shape);
      const { text, binds } = oracleRead(layout, conditions(shape, query));
      return run("read", limits, async (session) => {
        await session.send("SET TRANSACTION READ ONLY");
        const ledger = (await session.rows(texts.ledger, [shape.name])).map(ledgerRow);
        const rows = (await session.rows(text, binds)).map((fields) => counterRow(shape, query, fields, restored));
        return { ledger, rows };
      });
    },
  };
}

/** Undefined if the ledger accepted the batch. */
async function step(
  session: OracleSession,
  texts: OracleTexts,
  { name }: CounterShape,
  { shard, generation, nonce, fence, events, ...rest }: DrainBatch,
): Promise<ApplyResult | undefined> {
  const [at, to, by, sum] = [shard, generation, fence, events].map(String) as [string, string, string, string];
  const binds = [to, nonce, by, sum, name, at, String(generation - 1), by];
  if ((await session.send(texts.step, binds)) > 0) return undefined;
  const row = (await session.rows(texts.lock, [name, at])).map(ledgerRow)[0];
  if (row || generation > 1) return ledgerRefusal(row, { shard, generation, nonce, fence, events, ...rest });
  await session.send(texts.begin, [name, at, to, nonce, by, sum]);
  return undefined;
}

const MAX_ROWS = 10_000;

/**
 * Adds the rows to existing or new rows of the table, in two round trips if the known keys are right. Rows with known
 * keys are updated, all others are inserted. A row that UPDATE does not find is then inserted, and one that INSERT
 * finds is then updated. A shard's rows have one writer, so no other process changes them in between.
 */
async function oracleAdd(session: OracleSession, texts: OracleTexts, rows: readonly KeyedRow[], known: KnownKeys) {
  for (let from = 0; from < rows.length; from += MAX_ROWS) {
    const chunk = rows.slice(from, from + MAX_ROWS);
    const guessed = chunk.map(({ key }) => known.has(key));
    const missing = await update(
      session,
      texts,
      chunk.filter((_, i) => guessed[i]),
    );
    const there = await insert(session, texts, [...chunk.filter((_, i) => !guessed[i]), ...missing]);
    const lost = await update(session, texts, there);
    if (lost.length > 0)
      throw new OrielError(
        "UNAVAILABLE",
        `apply: ${lost.length} rows were inserted and deleted by others during the call`,
        {
          transient: true,
        },
      );
  }
}

/** Returns the rows that are not in the table. */
async function update(session: OracleSession, texts: OracleTexts, rows: readonly KeyedRow[]): Promise<KeyedRow[]> {
  if (rows.length === 0) return [];
  const { dmlRowCounts = [] } = await session.many(texts.update, rows.map(rowBinds), { dmlRowCounts: true });
  const several = dmlRowCounts.findIndex((count) => count > 1);
  if (several >= 0)
    throw new OrielError(
      "ARGUMENT",
      `the table has ${dmlRowCounts[several]} rows of the values ${rows[several]!.values.map(show).join(", ")}: its key must be ` +
        "bucket, start and the dimensions of the counter (docs/runbook/add-a-dimension.md)",
    );
  return rows.filter((_, i) => dmlRowCounts[i] !== 1);
}

/** Returns the rows that the table already had. They are unchanged. */
async function insert(session: OracleSession, texts: OracleTexts, rows: readonly KeyedRow[]): Promise<KeyedRow[]> {
  if (rows.length === 0) return [];
  const { batchErrors = [] } = await session.many(texts.insert, rows.map(rowBinds), { batchErrors: true });
  const other = batchErrors.find(({ errorNum }) => errorNum !== UNIQUE_VIOLATED);
  if (other) throw other;
  return batchErrors.map(({ offset }) => rows[offset as number] as KeyedRow);
}

/** The most recently used keys of rows that the table has, up to a maximum. */
class KnownKeys {
  readonly #keys = new Set<string>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Whether the key is known. It becomes the most recently used one. */
  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }

  add(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= this.#maxKeys) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }
}
