import { CounterRow, type CounterShape, type LedgerRow, type RowsQuery } from "../../src/counters/counter/table.ts";
import type { ApplyResult, DrainBatch, DrainRow, Sink } from "../../src/counters/drain/sql/sink.ts";

/** A table and its ledger in this process. Each call is one transaction. */
export class TableSink implements Sink {
  readonly #ledger = new Map<number, LedgerRow>();
  readonly #rows = new Map<string, DrainRow>();

  ddl(): string[] {
    return [];
  }
  async createTables(): Promise<void> {}

  async apply(
    _shape: CounterShape,
    { shard, generation, nonce, fence, events, rows }: DrainBatch,
  ): Promise<ApplyResult> {
    const last = this.#ledger.get(shard) ?? { shard, generation: 0, nonce: "", fence: 0, events: 0n };
    if (fence < last.fence) return { status: "superseded", fence: last.fence };
    if (last.generation === generation && last.nonce === nonce) return { status: "already-applied" };
    if (last.generation !== generation - 1) return { status: "behind", generation: last.generation, nonce: last.nonce };
    this.#ledger.set(shard, { shard, generation, nonce, fence, events: last.events + events });
    for (const row of rows) {
      const name = `${row.bucket} ${row.startMs} ${row.values.join("|")}`;
      this.#rows.set(name, { ...row, count: (this.#rows.get(name)?.count ?? 0n) + row.count });
    }
    return { status: "applied" };
  }

  async ledger(): Promise<LedgerRow[]> {
    return [...this.#ledger.values()];
  }

  async read<Dimension extends string>({ dimensions }: CounterShape<Dimension>, { bucket }: RowsQuery<Dimension>) {
    const rows = [...this.#rows.values()].filter((row) => row.bucket === bucket);
    return { ledger: await this.ledger(), rows: rows.map((row) => new CounterRow(dimensions, row)) };
  }
}
