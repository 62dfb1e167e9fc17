import { OrielError, show } from "../../../../base/errors.ts";
import type { KnownKeys } from "../known-keys.ts";
import type { KeyedRow } from "../rows.ts";
import { type OracleSession, UNIQUE_VIOLATED } from "./oracle-session.ts";
import { type OracleTexts, rowBinds } from "./oracle-text.ts";

const MAX_ROWS = 10_000;

/**
 * Adds the rows to existing or new rows of the table, in two round trips if the known keys are right. Rows with known
 * keys are updated, all others are inserted. A row that UPDATE does not find is then inserted, and one that INSERT
 * finds is then updated. A shard's rows have one writer, so no other process changes them in between.
 */
export async function oracleAdd(
  session: OracleSession,
  texts: OracleTexts,
  rows: readonly KeyedRow[],
  known: KnownKeys,
) {
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
