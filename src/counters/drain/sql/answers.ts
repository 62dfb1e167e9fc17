import { OrielError, show } from "../../../base/errors.ts";
import { CounterRow, type CounterShape, type LedgerRow, type RowsQuery } from "../../counter/table.ts";
import { MAX_COUNT, secondText } from "./rows.ts";
import { boundMs, checkQuery, isStart } from "./shape.ts";

/** A row of a driver's result. Every column is queried as text, but some drivers return small numbers. */
export type Fields = Readonly<Record<string, unknown>>;

export function ledgerRow({ shard, generation, nonce, fence, events }: Fields): LedgerRow {
  const numbers = { generation, fence, events };
  const wrong = Object.entries(numbers).find(([, text]) => !/^\d{1,19}$/.test(String(text)));
  const isSafe = Number(generation) <= Number.MAX_SAFE_INTEGER && Number(fence) <= Number.MAX_SAFE_INTEGER;
  const isText = typeof nonce !== "object" || Buffer.isBuffer(nonce); // a pool may return bytes for text
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

/**
 * Converts a row with the columns start ("2026-01-31T23:59:00"), count, d0, d1 and so on. `textOf` decodes a column's
 * text. Throws CORRUPT, with the row in the message.
 */
export function counterRow<Dimension extends string>(
  shape: CounterShape<Dimension>,
  { bucket }: RowsQuery<Dimension>,
  fields: Fields,
  textOf: (column: string) => string = (column) => column,
): CounterRow<Dimension, bigint> {
  const startMs = startOf(fields.start);
  const values = shape.dimensions.map((_, i) => fields[`d${i}`]);
  const count = countOf(fields.count);
  const isText = values.every((value) => Buffer.isBuffer(value) || (typeof value === "string" && isWhole(value)));
  if (startMs === undefined || count === undefined || !isText)
    throw new OrielError(
      "CORRUPT",
      `a row of the table of counter ${show(shape.name)} is damaged: bucket ${bucket}, start ${show(fields.start)}, ` +
        `count ${show(fields.count)}, values ${values.map(show).join(", ")}`,
    );
  const texts = values.map((value) => textOf(String(value)));
  return new CounterRow(shape.dimensions, { bucket, startMs, values: texts, count });
}

/** A driver may decode invalid UTF-8 as a lone surrogate. */
function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Undefined unless it is a whole minute in range. A pool may return bytes for text. */
function startOf(start: unknown): number | undefined {
  if (typeof start !== "string" && !Buffer.isBuffer(start)) return undefined;
  const text = String(start);
  const ms = Date.parse(`${text}Z`);
  // Date.parse reads the 31st of February as the 3rd of March.
  return isStart(ms) && new Date(ms).getUTCDate() === Number(text.slice(8, 10)) ? ms : undefined;
}

function countOf(count: unknown): bigint | undefined {
  const text = String(count);
  if (!/^\d{1,19}$/.test(text)) return undefined;
  const whole = BigInt(text);
  return whole <= MAX_COUNT ? whole : undefined;
}

/** A condition of a query on one column. */
export interface Condition {
  readonly column: "bucket" | "start" | number;
  readonly sign: "=" | ">=" | "<";
  readonly value: string;
}

/** The conditions of a query; a number is a dimension's index. Throws ARGUMENT if the query does not fit the shape. */
export function conditions(shape: CounterShape, query: RowsQuery): Condition[] {
  checkQuery(shape, query);
  const found: Condition[] = [{ column: "bucket", sign: "=", value: query.bucket }];
  const { fromMs, toMs } = query;
  if (fromMs !== undefined) found.push({ column: "start", sign: ">=", value: secondText(boundMs(fromMs)) });
  if (toMs !== undefined) found.push({ column: "start", sign: "<", value: secondText(boundMs(toMs)) });
  for (const [name, value] of Object.entries((query.values ?? {}) as Readonly<Record<string, string>>))
    found.push({ column: shape.dimensions.indexOf(name), sign: "=", value });
  return found;
}
