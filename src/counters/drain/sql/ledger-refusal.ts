import type { LedgerRow } from "../../counter/table.ts";
import type { ApplyResult, DrainBatch } from "./sink.ts";

/** Explains, from the current row, why the ledger did not accept a batch. */
export function ledgerRefusal(
  row: Pick<LedgerRow, "generation" | "nonce" | "fence"> | undefined,
  batch: DrainBatch,
): ApplyResult {
  if (!row) return { status: "behind", generation: 0, nonce: "" };
  if (row.fence > batch.fence) return { status: "superseded", fence: row.fence };
  if (row.generation === batch.generation && row.nonce === batch.nonce) return { status: "already-applied" };
  return { status: "behind", generation: row.generation, nonce: row.nonce };
}
