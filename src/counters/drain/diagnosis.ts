import { extendsLayout } from "../counter/format/layout.ts";
import type { Look } from "../counter/steps/reads.ts";
import { bornOf, frozenAtMs, isOfOtherShard, jsonCount, type LedgerRow } from "../counter/table.ts";

/**
 * fits ............ → nothing to do
 * lost ............ → the store lost the shard; everything in it, if anything, was counted since
 * set-back ........ → the store was restored from an older state; the table may have some of its counts
 * sum ............. → the sum of an ended generation is not that of its rows; only found with `sums`
 * table-behind .... → the table lacks generations that the store acknowledged: it was restored, or is another one
 * other-counter ... → another counter is drained into the same table
 * other-layout .... → the shard has another layout
 * damaged ......... → the key is not a shard, or its row of the ledger cannot be read
 */
export type ShardVerdict =
  | "fits"
  | "lost"
  | "set-back"
  | "sum"
  | "table-behind"
  | "other-counter"
  | "other-layout"
  | "damaged";

/** Works with JSON.stringify: bigints become numbers up to 2^53 - 1, and decimal text above it. */
export interface ShardDiagnosis {
  shard: number;
  key: string;
  verdict: ShardVerdict;
  /** The last generation that the store has acknowledged, and the last one in the table. */
  storeGeneration: number;
  tableGeneration: number;
  /** Events that wait in the store, and the part of them that the table may already have. */
  waiting: bigint;
  inDoubt: bigint;
  layout: string | undefined;
  /** Describes the problem; empty if there is none. */
  note: string;
}

/** The state of one shard and of its ledger row at one instant. */
export interface Seen {
  shard: number;
  key: string;
  look: Look;
  ledger: LedgerRow | undefined;
}

const WHOLE = /^-?\d+$/;

/** Compares the store with the ledger. It does not guess. */
export function diagnose(seen: Seen, layout: string): ShardDiagnosis {
  return withJsonCounts(judged(seen, layout));
}

function judged({ shard, key, look, ledger }: Seen, layout: string): ShardDiagnosis {
  const base = Number(look.base ?? 0);
  const own = { acknowledged: Number(look.acknowledged ?? 0), current: Number(look.current ?? 1) };
  const [storeGeneration, tableGeneration] = [own.acknowledged + base, ledger?.generation ?? 0];
  const sums = look.generations.map(({ number, sum }) => ({ number, sum: /^\d+$/.test(sum) ? BigInt(sum) : 0n }));
  const waiting = sums.reduce((total, { sum }) => total + sum, 0n);
  const pure = firstPure(look, ledger);
  const inDoubt = sums.reduce((total, { number, sum }) => (number < pure ? total + sum : total), 0n);
  const found = { shard, key, storeGeneration, tableGeneration, waiting, layout: look.layout, inDoubt: 0n, note: "" };
  if (ledger?.damaged !== undefined) return { ...found, verdict: "damaged", note: ledger.damaged };
  if (look.type !== "hash" && look.type !== "none")
    return { ...found, verdict: "damaged", note: `the key holds a ${look.type}` };
  const numbers = [look.current ?? "1", look.acknowledged ?? "0", look.base ?? "0"];
  if (!numbers.every((text) => WHOLE.test(text)))
    return { ...found, verdict: "damaged", note: "@cur, @ack or @base is not a whole number" };
  const broken = look.generations.find(
    ({ number, sum }) => !/^\d+$/.test(sum) && !(sum === "-" && number === own.current),
  );
  if (broken) return { ...found, verdict: "damaged", note: `@n:${broken.number} is not a whole number` };
  if (look.layout !== undefined && !fits(look.layout, layout))
    return { ...found, verdict: "other-layout", note: otherLayout(look.layout, layout) };
  if (tableGeneration < storeGeneration)
    return { ...found, verdict: "table-behind", note: ledger === undefined ? OTHER_TABLE : "" };
  if (isFedByOther(look, ledger)) return { ...found, verdict: "other-counter", note: OTHER_COUNTER };
  const frozen = look.generations.find(({ number }) => number === own.acknowledged + 1)?.nonce;
  if (tableGeneration === storeGeneration) return { ...found, verdict: "fits" };
  if (tableGeneration === storeGeneration + 1 && frozen !== undefined && frozen === ledger?.nonce)
    return { ...found, verdict: "fits" };
  return wasLost(look, ledger) ? { ...found, verdict: "lost" } : { ...found, verdict: "set-back", inDoubt };
}

/** Why a table has no generation of a counter that has been drained. */
export const OTHER_TABLE =
  "the table has nothing of this counter, which was drained into another table, or this one was emptied";
export const OTHER_COUNTER = "another counter is drained into this table; give each a table, or a name, of its own";

/**
 * Whether the ledger's last generation is of another counter: of another shard that lived on after this one was created, or
 * that has just as many generations. Otherwise this store may have lost its state.
 */
export function isFedByOther(
  shard: Pick<Look, "born" | "rebased" | "acknowledged" | "base">,
  ledger: Pick<LedgerRow, "generation" | "nonce"> | undefined,
): boolean {
  if (!ledger || !isOfOtherShard(shard, ledger)) return false;
  const isSameNumber = ledger.generation === Number(shard.acknowledged ?? 0) + Number(shard.base ?? 0);
  return isSameNumber || frozenAtMs(ledger) > Number.parseInt(shard.born!, 16);
}

/** A shard's layout may be older than the counter's. It then lacks dimensions that were added later. */
function fits(stored: string, layout: string): boolean {
  return stored === layout || extendsLayout(layout, stored);
}

/** Describes the stored layout. If it only has added dimensions, the note asks the operator for them. */
export function otherLayout(stored: string, layout: string): string {
  return extendsLayout(stored, layout) ? `${stored}: pass its added dimensions` : stored;
}

/** Whether the shard was created after the one of the ledger's last generation, by the time in its nonce. */
export function wasLost({ type, born, layout }: Look, ledger: LedgerRow | undefined): boolean {
  if (type === "none" || layout === undefined) return true;
  return born !== undefined && Number.parseInt(born, 16) > bornOf(ledger);
}

/** The first generation, by its number in the fields, that began after this ledger was found not to fit. */
export function firstPure({ pure }: Look, ledger: LedgerRow | undefined): number {
  const [, first, generation, nonce] = /^(\d+) (\d+) (.*)$/.exec(pure ?? "") ?? [];
  const isSame = Number(generation) === (ledger?.generation ?? 0) && nonce === (ledger?.nonce ?? "");
  return first !== undefined && isSame ? Number(first) : Number.POSITIVE_INFINITY;
}

/**
 * Makes an object with bigint counts work with JSON.stringify: a number up to 2^53 - 1, and decimal text above it. The
 * added method is not enumerable, so it is not listed, copied or compared.
 */
export function withJsonCounts<T extends object>(counts: T): T {
  return Object.defineProperty(counts, "toJSON", { value: toJSON, enumerable: false });
}

function toJSON(this: object): object {
  const entries = Object.entries(this);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "bigint" ? jsonCount(value) : value]),
  );
}
