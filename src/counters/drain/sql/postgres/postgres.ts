import { argumentError } from "../../../../base/errors.ts";
import type { CounterShape } from "../../../counter/table.ts";
import { conditions, counterRow, type Fields, ledgerRow } from "../answers.ts";
import { checkOptions, type Layout, layoutOf, ledgerColumns, type SinkOptions } from "../layout.ts";
import { ledgerRefusal, namedSink } from "../named-sink.ts";
import { checkBatch, keyedRows } from "../rows.ts";
import type { ApplyResult, DrainBatch, Sink, SinkCallOptions } from "../sink.ts";
import { type Failure, type Session, transact } from "../transaction.ts";
import { arraysOf, POSTGRES, type PostgresTexts, postgresRead, postgresTexts } from "./postgres-text.ts";

/** The used part of a `Pool` of pg. */
export interface PostgresPool {
  connect(): Promise<PostgresConnection>;
}

/** The part of a client of pg that the sink uses. */
export interface PostgresConnection {
  query(query: { text: string; values?: unknown[] }): Promise<{ command: string; rows: unknown[] }>;
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** Keeps a statement's parameters below some tens of megabytes. */
const MAX_ROWS = 50_000;
/** The server's time-outs come before the client's, so that the connection can be used again. */
const SERVER_SHARE = 0.8;
const SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/**
 * Drains into PostgreSQL (12 or later) through a `Pool` of pg. A batch of up to 50 000 rows takes four round trips.
 * Each call uses one connection. The database's encoding must be UTF-8.
 */
export function postgresSink(pool: PostgresPool, options: SinkOptions = {}): Sink {
  return namedSink("postgresSink", () => sinkOf(pool, options));
}

function sinkOf(pool: PostgresPool, options: SinkOptions): Sink {
  checkOptions(options);
  if (pool === null || typeof pool !== "object") throw argumentError("pool", pool, "a Pool of pg");
  const plans = new WeakMap<CounterShape, { layout: Layout; texts: PostgresTexts }>();
  const planOf = (shape: CounterShape) => {
    let plan = plans.get(shape);
    if (!plan) {
      const layout = layoutOf(shape, options, POSTGRES);
      plan = { layout, texts: postgresTexts(layout, ledgerColumns(POSTGRES)) };
      plans.set(shape, plan);
    }
    return plan;
  };
  const database = { open: async () => new PostgresSession(await pool.connect()), failure };

  return {
    ddl: (shape) => planOf(shape).texts.ddl,

    async createTables(shape, limits = {}) {
      const { ddl } = planOf(shape).texts;
      await transact("createTables", database, limits, async (session, leftMs) => {
        // With IF NOT EXISTS alone, two concurrent sessions may both create the table, and one fails.
        await session.send(`${begin("BEGIN", leftMs)}; SELECT pg_advisory_xact_lock(1869768044)`);
        for (const text of ddl) await session.send(text);
      });
    },

    async apply(shape, batch, limits = {}) {
      checkBatch(batch);
      const { texts } = planOf(shape);
      const rows = keyedRows(shape, batch.rows);
      return transact("apply", database, limits, async (session, leftMs) => {
        await session.send(begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", leftMs));
        const refused = await step(session, texts, shape, batch);
        if (refused) return refused;
        for (let from = 0; from < rows.length; from += MAX_ROWS)
          await session.send(texts.add, arraysOf(rows.slice(from, from + MAX_ROWS), shape.dimensions.length));
        return { status: "applied" };
      });
    },

    async ledger(shape, limits = {}) {
      const { texts } = planOf(shape);
      return transact("ledger", database, limits, async (session, leftMs) => {
        await session.send(begin(SNAPSHOT, leftMs));
        return (await session.send(texts.ledger, [shape.name])).map(ledgerRow);
      });
    },

    async read(shape, query, limits: SinkCallOptions = {}) {
      const { layout, texts } = planOf(shape);
      const { text, values } = postgresRead(layout, conditions(shape, query));
      return transact("read", database, limits, async (session, leftMs) => {
        await session.send(begin(SNAPSHOT, leftMs));
        const ledger = (await session.send(texts.ledger, [shape.name])).map(ledgerRow);
        const rows = (await session.send(text, values)).map((fields) => counterRow(shape, query, fields));
        return { ledger, rows };
      });
    },
  };
}

/** Undefined if the ledger accepted the batch. */
async function step(
  session: PostgresSession,
  { step, ledger }: PostgresTexts,
  { name }: CounterShape,
  batch: DrainBatch,
): Promise<ApplyResult | undefined> {
  const { shard, generation, nonce, fence, events } = batch;
  const made = await session.send(step, [name, shard, generation, nonce, fence, String(events)]);
  if (made.length > 0) return undefined;
  const rows = (await session.send(ledger, [name])).map(ledgerRow);
  return ledgerRefusal(
    rows.find((row) => row.shard === shard),
    batch,
  );
}

/** BEGIN and the transaction's time-outs in one round trip. */
function begin(text: string, leftMs: number): string {
  if (leftMs === Number.POSITIVE_INFINITY) return text;
  const ms = Math.max(1, Math.floor(leftMs * SERVER_SHARE));
  const limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
  return [text, ...limits.map((name) => `SET LOCAL ${name} = ${ms}`)].join("; ");
}

class PostgresSession implements Session {
  readonly #connection: PostgresConnection;
  #isGone = false;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
    connection.on("error", this.#ignore);
  }

  async send(text: string, values?: unknown[]): Promise<Fields[]> {
    const { rows } = await this.#connection.query(values ? { text, values } : { text });
    return rows as Fields[];
  }

  async commit(): Promise<void> {
    const { command } = await this.#connection.query({ text: "COMMIT" });
    // After an earlier failure in the transaction, the server answers COMMIT with ROLLBACK.
    if (command !== "COMMIT") throw new Error(`COMMIT was answered with ${command}`);
  }

  rollback(): Promise<unknown> {
    return this.#connection.query({ text: "ROLLBACK" });
  }

  async release(): Promise<void> {
    this.#leave(false);
  }

  destroy(): void {
    this.#leave(true);
  }

  /** The pool handles errors of idle connections. Errors of a connection in use reach the call through its query. */
  readonly #ignore = () => {};

  #leave(destroy: boolean): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#connection.release(destroy);
    if (!destroy) this.#connection.removeListener("error", this.#ignore);
  }
}

/** Classifies by SQLSTATE. An error without one comes from the connection. */
function failure(error: unknown): Failure {
  const state = (error as { code?: unknown })?.code;
  if (typeof state !== "string" || !/^[0-9FHPX][0-9A-Z]{4}$/.test(state)) return "transient";
  if (state === "57014" || state === "55P03" || state === "25P03") return "late";
  return /^(08|40|53|55|57|58)/.test(state) ? "transient" : "permanent";
}
