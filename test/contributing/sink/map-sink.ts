import { CounterRow } from "../../../src/counter/row.ts";
import type { CounterShape, LedgerRow, RowsQuery } from "../../../src/counter/table.ts";
import { ledgerRefusal } from "../../../src/drain/sql/ledger-refusal.ts";
import { namedSink } from "../../../src/drain/sql/named-sink.ts";
import { checkBatch, type KeyedRow, keyedRows } from "../../../src/drain/sql/rows.ts";
import type { ApplyResult, DrainBatch, Sink } from "../../../src/drain/sql/sink.ts";
import { OrielError } from "../../../src/errors.ts";

/** A sink into maps of this process. Its methods do not wait inside, so each call is one transaction. */
export function mapSink(): Sink {
  return namedSink("mapSink", () => new MapTables());
}

interface Tables {
  readonly ledger: Map<number, LedgerRow>;
  /** By bucket, start and values. */
  readonly rows: Map<string, KeyedRow>;
}

class MapTables implements Sink {
  readonly #tables = new Map<string, Tables>();

  ddl({ name }: CounterShape): string[] {
    return [`${name}: ledger`, `${name}: rows`];
  }

  async createTables({ name }: CounterShape): Promise<void> {
    if (!this.#tables.has(name)) this.#tables.set(name, { ledger: new Map(), rows: new Map() });
  }

  async apply(shape: CounterShape, batch: DrainBatch): Promise<ApplyResult> {
    checkBatch(batch);
    const added = keyedRows(shape, batch.rows); // throws before anything is written
    const { ledger, rows } = this.#tablesOf(shape);
    const { shard, generation, nonce, fence } = batch;
    const last = ledger.get(shard) ?? { shard, generation: 0, nonce: "", fence: 0, events: 0n };
    if (generation !== last.generation + 1 || fence < last.fence) return ledgerRefusal(last, batch);
    ledger.set(shard, { shard, generation, nonce, fence, events: last.events + batch.events });
    for (const row of added) rows.set(row.key, { ...row, count: row.count + (rows.get(row.key)?.count ?? 0n) });
    return { status: "applied" };
  }

  async ledger(shape: CounterShape): Promise<LedgerRow[]> {
    return [...this.#tablesOf(shape).ledger.values()].sort((one, other) => one.shard - other.shard);
  }

  async read<Dimension extends string>(shape: CounterShape<Dimension>, query: RowsQuery<Dimension>) {
    const { bucket, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = query;
    const wanted = shape.dimensions.map((name) => query.values?.[name]);
    const rows = [...this.#tablesOf(shape).rows.values()]
      .filter((row) => row.bucket === bucket && wanted.every((text, i) => text === undefined || text === row.values[i]))
      .sort((one, other) => (one.key < other.key ? -1 : 1))
      .map((row) => new CounterRow(shape.dimensions, { ...row, startMs: Date.parse(`${row.start}Z`) }))
      .filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
    return { ledger: await this.ledger(shape), rows };
  }

  #tablesOf({ name }: CounterShape): Tables {
    const tables = this.#tables.get(name);
    if (!tables) throw new OrielError("UNAVAILABLE", `there are no tables of "${name}"; createTables makes them`);
    return tables;
  }
}
