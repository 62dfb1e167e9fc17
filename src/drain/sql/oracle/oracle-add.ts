import { OrielError, show } from "../../../errors.ts";
import type { KnownKeys } from "../known-keys.ts";
import type { KeyedRow } from "../rows.ts";
import { type OracleSession, UNIQUE_VIOLATED } from "./oracle-session.ts";
import { type OracleTexts, rowBinds } from "./oracle-text.ts";

const MOST_ROWS = 10_000;

/**
 * Adds the rows, whether the table has them or not, in two round trips where the keys that are known are right: those
 * are updated, all others inserted. A row that an UPDATE did not find is inserted; one that an INSERT found there is
 * updated. A shard's rows have one writer, so nobody else makes or removes one in between.
 */
export async function oracleAdd(
  session: OracleSession,
  texts: OracleTexts,
  rows: readonly KeyedRow[],
  known: KnownKeys,
) {
  for (let from = 0; from < rows.length; from += MOST_ROWS) {
    const chunk = rows.slice(from, from + MOST_ROWS);
    const guessed = chunk.map(({ key }) => known.has(key));
    const missing = await update(
      session,
      texts,
      chunk.filter((_, i) => guessed[i]),
    );
    const there = await insert(session, texts, [...chunk.filter((_, i) => !guessed[i]), ...missing]);
    const lost = await update(session, texts, there);
    if (lost.length > 0)
      throw new OrielError("UNAVAILABLE", `apply: ${lost.length} rows came and went while they were written`, {
        transient: true,
      });
  }
}

/** The rows that are not in the table. */
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

/** The rows that were in the table already, and are unchanged. */
async function insert(session: OracleSession, texts: OracleTexts, rows: readonly KeyedRow[]): Promise<KeyedRow[]> {
  if (rows.length === 0) return [];
  const { batchErrors = [] } = await session.many(texts.insert, rows.map(rowBinds), { batchErrors: true });
  const other = batchErrors.find(({ errorNum }) => errorNum !== UNIQUE_VIOLATED);
  if (other) throw other;
  return batchErrors.map(({ offset }) => rows[offset as number] as KeyedRow);
}
