import type { CounterShape, RowsQuery } from "../../../src/counters/counter/table.ts";
import type { DrainBatch, Sink } from "../../../src/counters/drain/sql/sink.ts";
import { TableSink } from "../../fuzz/table-sink.ts";

/** A table with columns for all dimensions that a counter gets in time, empty where a program does not know them. */
export class WideTable extends TableSink {
  readonly #dimensions: number;

  constructor(dimensions: number) {
    super();
    this.#dimensions = dimensions;
  }

  override apply(shape: CounterShape, batch: DrainBatch) {
    const padding = Array<string>(this.#dimensions - shape.dimensions.length).fill("");
    const rows = batch.rows.map((row) => ({ ...row, values: [...row.values, ...padding] }));
    return super.apply(shape, { ...batch, rows });
  }

  override async read<Dimension extends string>(shape: CounterShape<Dimension>, query: RowsQuery<Dimension>) {
    const { ledger, rows } = await super.read(shape, query);
    const wanted = Object.entries(query.values ?? {}) as [Dimension, string][];
    return { ledger, rows: rows.filter(({ values }) => wanted.every(([name, value]) => values[name] === value)) };
  }

  /** The same table, whose transaction or its answer is lost. */
  cutShort(when: "before" | "after"): Sink {
    return {
      ddl: () => [],
      createTables: async () => {},
      ledger: () => this.ledger(),
      read: (shape, query) => this.read(shape, query),
      apply: async (shape, batch) => {
        if (when === "after") await this.apply(shape, batch);
        throw new Error("cut short");
      },
    };
  }
}
