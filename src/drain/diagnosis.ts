import { extendsLayout } from "../counter/format/layout.ts";
import type { Look } from "../counter/steps/look.ts";
import type { LedgerRow } from "../counter/table.ts";
import { withJsonCounts } from "./json-counts.ts";

/**
 * fits ............ nothing to do
 * lost ............ the store lost the shard, and began another one or none: all that it has was counted since
 * set-back ........ the store was set back: what it counted before it was found out, the table may have
 * table-behind .... the table lacks generations that the store gave away, or is not the counter's
 * other-layout .... the shard was written by another layout
 * damaged ......... what lies under the key is no shard, or its row of the ledger cannot be read
 */
export type ShardVerdict = "fits" | "lost" | "set-back" | "table-behind" | "other-layout" | "damaged";

/** JSON.stringify takes it: its bigints become numbers up to 2^53 - 1, above it decimal text. */
export interface ShardDiagnosis {
  shard: number;
  key: string;
  verdict: ShardVerdict;
  /** Last generation that the store gave away, and that the table has. */
  storeGeneration: number;
  tableGeneration: number;
  /** Events that wait in the store, and those of them that the table may have. */
  waiting: bigint;
  inDoubt: bigint;
  layout: string | undefined;
  /** Where other versions of the same truth are needed: what is wrong. */
  note: string;
}

/** What is known of one shard, of one moment. */
export interface Seen {
  shard: number;
  key: string;
  look: Look;
  ledger: LedgerRow | undefined;
}

const WHOLE = /^-?\d+$/;

/** By what the store and the ledger say; guesses nothing. */
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
    return { ...found, verdict: "damaged", note: "@cur, @ack or @base is no whole number" };
  const broken = look.generations.find(
    ({ number, sum }) => !/^\d+$/.test(sum) && !(sum === "-" && number === own.current),
  );
  if (broken) return { ...found, verdict: "damaged", note: `@n:${broken.number} is no whole number` };
  if (look.layout !== undefined && !fits(look.layout, layout))
    return { ...found, verdict: "other-layout", note: otherLayout(look.layout, layout) };
  if (tableGeneration < storeGeneration) return { ...found, verdict: "table-behind" };
  const frozen = look.generations.find(({ number }) => number === own.acknowledged + 1)?.nonce;
  if (tableGeneration === storeGeneration) return { ...found, verdict: "fits" };
  if (tableGeneration === storeGeneration + 1 && frozen !== undefined && frozen === ledger?.nonce)
    return { ...found, verdict: "fits" };
  return wasLost(look, ledger) ? { ...found, verdict: "lost" } : { ...found, verdict: "set-back", inDoubt };
}

/** A shard's layout may be older than the counter's: it lacks dimensions that were added later. */
function fits(stored: string, layout: string): boolean {
  return stored === layout || extendsLayout(layout, stored);
}

/** The layout, and what is to be done where it only lacks the operator's knowledge of dimensions that were added. */
export function otherLayout(stored: string, layout: string): string {
  return extendsLayout(stored, layout) ? `${stored}: give its added dimensions` : stored;
}

/** Whether the shard was made after the one that the ledger's last generation came from: by the clock on its nonce. */
export function wasLost({ type, born, layout }: Look, ledger: LedgerRow | undefined): boolean {
  if (type === "none" || layout === undefined) return true;
  return born !== undefined && Number.parseInt(born, 16) > bornOf(ledger);
}

/** When the shard was made that a ledger's last generation came from, ms; 0 where it does not say. */
export function bornOf(ledger: LedgerRow | undefined): number {
  const born = /-b([0-9a-f]+)$/.exec(ledger?.nonce ?? "")?.[1];
  return born === undefined ? 0 : Number.parseInt(born, 16);
}

/** The first generation, as the fields count them, that was begun after this ledger was found not to fit. */
export function firstPure({ pure }: Look, ledger: LedgerRow | undefined): number {
  const [, first, generation, nonce] = /^(\d+) (\d+) (.*)$/.exec(pure ?? "") ?? [];
  const isSame = Number(generation) === (ledger?.generation ?? 0) && nonce === (ledger?.nonce ?? "");
  return first !== undefined && isSame ? Number(first) : Number.POSITIVE_INFINITY;
}
