import type { CounterShape, LedgerRow, RowsQuery } from "../counter/table.ts";
import { secondText } from "./rows.ts";
import { boundMs, checkQuery } from "./shape.ts";
import type { DrainRow } from "./sink.ts";

/** A row of a driver's result: every column was asked for as text, but drivers may make small numbers of some. */
export type Fields = Readonly<Record<string, unknown>>;

export function ledgerRow({ shard, generation, nonce, fence, events }: Fields): LedgerRow {
  return {
    shard: Number(shard),
    generation: Number(generation),
    nonce: String(nonce),
    fence: Number(fence),
    events: BigInt(String(events)),
  };
}

/** Of columns start ("2026-01-31T23:59:00"), count, d0, d1 … */
export function drainRow(shape: CounterShape, { bucket }: RowsQuery, fields: Fields): DrainRow {
  return {
    bucket,
    startMs: Date.parse(`${fields.start}Z`),
    values: shape.dimensions.map((_, i) => String(fields[`d${i}`])),
    count: BigInt(String(fields.count)),
  };
}

/** A condition of a query on one column. */
export interface Condition {
  readonly column: "bucket" | "start" | number;
  readonly sign: "=" | ">=" | "<";
  readonly value: string;
}

/** What a query asks of the rows; a number is a dimension's place. Throws ARGUMENT where it is none of this shape. */
export function conditions(shape: CounterShape, query: RowsQuery): Condition[] {
  checkQuery(shape, query);
  const found: Condition[] = [{ column: "bucket", sign: "=", value: query.bucket }];
  const { fromMs, toMs } = query;
  if (fromMs !== undefined) found.push({ column: "start", sign: ">=", value: secondText(boundMs(fromMs)) });
  if (toMs !== undefined) found.push({ column: "start", sign: "<", value: secondText(boundMs(toMs)) });
  for (const [name, value] of Object.entries(query.values ?? {}))
    found.push({ column: shape.dimensions.indexOf(name), sign: "=", value });
  return found;
}
