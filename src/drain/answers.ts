import type { CounterShape, LedgerRow, RowsQuery } from "../counter/table.ts";
import { OrielError, show } from "../errors.ts";
import { secondText } from "./rows.ts";
import { boundMs, checkQuery } from "./shape.ts";
import type { DrainRow } from "./sink.ts";

/** A row of a driver's result: every column was asked for as text, but drivers may make small numbers of some. */
export type Fields = Readonly<Record<string, unknown>>;

export function ledgerRow({ shard, generation, nonce, fence, events }: Fields): LedgerRow {
  const numbers = { generation, fence, events };
  const wrong = Object.entries(numbers).find(([, text]) => !/^\d{1,19}$/.test(String(text)));
  const isSafe = Number(generation) <= Number.MAX_SAFE_INTEGER && Number(fence) <= Number.MAX_SAFE_INTEGER;
  const isText = typeof nonce !== "object" || Buffer.isBuffer(nonce); // a pool may give bytes for text
  if (wrong || !isSafe || !isText) {
    const [name, text] = wrong ?? (isSafe ? ["nonce", nonce] : ["generation or fence", generation]);
    const damaged = `its ${name} is ${show(text)}`;
    return { shard: Number(shard), generation: 0, nonce: "", fence: 0, events: 0n, damaged };
  }
  return {
    shard: Number(shard),
    generation: Number(generation),
    nonce: String(nonce),
    fence: Number(fence),
    events: BigInt(String(events)),
  };
}

/** Of columns start ("2026-01-31T23:59:00"), count, d0, d1 … Throws CORRUPT, naming the row. */
export function drainRow(shape: CounterShape, { bucket }: RowsQuery, fields: Fields): DrainRow {
  const startMs = Date.parse(`${fields.start}Z`);
  const values = shape.dimensions.map((_, i) => fields[`d${i}`]);
  const hasCount = /^-?\d{1,19}$/.test(String(fields.count));
  if (Number.isNaN(startMs) || !hasCount || values.some((value) => value === null || value === undefined))
    throw new OrielError(
      "CORRUPT",
      `a row of the table of counter ${show(shape.name)} is damaged: bucket ${bucket}, start ${show(fields.start)}, ` +
        `count ${show(fields.count)}, values ${values.map(show).join(", ")}`,
    );
  return { bucket, startMs, values: values.map(String), count: BigInt(String(fields.count)) };
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
