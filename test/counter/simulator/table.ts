import { CounterRow, type CounterShape, type CountTable } from "../../../src/counters/counter/table.ts";
import { withoutColour } from "./books.ts";

interface Applied {
  generation: number;
  nonce: string;
}

/** A SQL table and its ledger: each call is one transaction. */
export class Table implements CountTable {
  readonly ledger = new Map<number, Applied>();
  readonly rows = new Map<string, bigint>();
  /** Shards of which table and store were found not to fit. */
  readonly diverged = new Set<number>();

  apply(shard: number, generation: number, nonce: string, rows: ReadonlyMap<string, bigint>) {
    const last = this.ledger.get(shard) ?? { generation: 0, nonce: "" };
    if (last.generation === generation && last.nonce === nonce) return "before";
    if (last.generation !== generation - 1) return "behind";
    this.ledger.set(shard, { generation, nonce });
    for (const [row, count] of rows) {
      const name = withoutColour(row);
      this.rows.set(name, (this.rows.get(name) ?? 0n) + count);
    }
    return "applied";
  }

  generationOf(shard: number): number {
    return this.ledger.get(shard)?.generation ?? 0;
  }

  async read<Dimension extends string>({ dimensions }: CounterShape<Dimension>) {
    const ledger = [...this.ledger].map(([shard, each]) => ({ shard, ...each, fence: 0, events: 0n }));
    const rows = [...this.rows].map(([row, count]) => {
      const [start, ...values] = row.split("|");
      while (values.length < dimensions.length) values.push("");
      return new CounterRow(dimensions, { bucket: "minute", startMs: Number(start) * 60_000, values, count });
    });
    return { ledger, rows };
  }
}
