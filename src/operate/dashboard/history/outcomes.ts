import { argumentError } from "../../../base/errors.ts";
import { BIN_MS } from "../../../generated/layouts/history.ts";
import type { CountedKind } from "../../history/names.ts";
import { type PastCount, readOutcomes } from "../../history/read-outcomes.ts";
import type { Identified, Scope } from "../../kinds/scope.ts";
import { csvOf } from "../csv.ts";
import type { OutcomeHistory } from "../parts.ts";

/** What happened per second, by outcome and policy, in each bucket. */
export async function outcomeHistory(
  { store }: Scope,
  kind: CountedKind,
  { name }: Identified,
  query: URLSearchParams,
): Promise<{ body: OutcomeHistory; csv: () => string }> {
  const { nowMs, outcomes } = await readOutcomes(store, kind, name, (nowMs) => historyWindow(nowMs, query).fromMs);
  const { fromMs, toMs, endsMs } = historyWindow(nowMs, query);
  const found = outcomes.map(({ outcome, policy, past }) => {
    const counts = sumsOf(past, fromMs, endsMs);
    const perSecond = counts.map((count, i) => (count * 1000) / (endsMs[i]! - (endsMs[i - 1] ?? fromMs)));
    return { outcome, policy, total: sumOf(counts), perSecond };
  });
  const body = { fromMs, toMs, endsMs, outcomes: found };
  const csv = () =>
    csvOf(
      ["end", ...found.map(({ outcome, policy }) => `${outcome}${policy === "" ? "" : ` ${policy}`} /s`)],
      endsMs.map((endMs, i) => [new Date(endMs).toISOString(), ...found.map(({ perSecond }) => perSecond[i] ?? null)]),
    );
  return { body, csv };
}

/**
 * The sums of some outcomes over the last `spanMs`, and the sums of all of them in each part; undefined without a history. Parts are
 * at least one report long.
 */
export async function outcomeSums(
  { store }: Scope,
  kind: CountedKind,
  { name }: Identified,
  { spanMs, parts }: { spanMs: number; parts: number },
): Promise<{ of(outcome: string): number; spark: number[] } | undefined> {
  const { nowMs, outcomes } = await readOutcomes(store, kind, name, (nowMs) => nowMs - spanMs);
  if (outcomes.length === 0) return undefined;
  const [fromMs, toMs] = [Math.floor(nowMs) - spanMs, Math.floor(nowMs)];
  const ends = wholeBins(fromMs, toMs, parts);
  const of = (wanted: string) =>
    sumOf(outcomes.filter(({ outcome }) => outcome === wanted).flatMap(({ past }) => sumsOf(past, fromMs, [toMs])));
  const shown = outcomes.filter(({ outcome }) => outcome !== "shadow");
  const partMs = ends.length > 1 ? ends[1]! - ends[0]! : spanMs;
  const sums = shown.map(({ past }) => sumsOf(past, ends[0]! - partMs, ends));
  return { of, spark: ends.map((_, i) => sumOf(sums.map((each) => each[i]!))) };
}

/** The sum of each bucket, its end included. */
function sumsOf(past: readonly PastCount[], fromMs: number, endsMs: readonly number[]): number[] {
  const sums = endsMs.map(() => 0);
  for (const { atMs, count } of past) {
    const bucket = atMs <= fromMs ? -1 : endsMs.findIndex((endMs) => atMs <= endMs);
    if (bucket >= 0) sums[bucket]! += count;
  }
  return sums;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, each) => sum + each, 0);
}

/**
 * Ends of at most `most` buckets, each as long as some whole bins, so that each has as many reports of a process as the others.
 * The first may be longer.
 */
function wholeBins(fromMs: number, toMs: number, most: number): number[] {
  const bucketMs = Math.ceil((toMs - fromMs) / most / BIN_MS) * BIN_MS;
  const count = Math.max(1, Math.floor((toMs - fromMs) / bucketMs));
  return Array.from({ length: count }, (_, i) => toMs - (count - 1 - i) * bucketMs);
}

const MAX_BUCKETS = 120;
const DEFAULT_SPAN_MS = 900_000;
/** Timings that are kept for longer than this are not shown to their beginning: 7 days. */
export const MAX_SPAN_MS = 604_800_000;

interface HistoryWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** Ends of the buckets. */
  readonly endsMs: readonly number[];
}

/** Reads `span`, or `from` and `to`, in ms. Without `to` the window ends at `nowMs`. Throws ARGUMENT. */
function historyWindow(nowMs: number, query: URLSearchParams): HistoryWindow {
  const numberOf = (name: string) => {
    const text = query.get(name);
    if (text === null || text === "") return undefined;
    const value = Number(text);
    if (!Number.isSafeInteger(Math.floor(value)) || value < 0)
      throw argumentError(name, text, "a number of ms, 0 or more");
    return Math.floor(value);
  };
  const toMs = numberOf("to") ?? Math.floor(nowMs);
  const fromMs = Math.max(numberOf("from") ?? toMs - (numberOf("span") ?? DEFAULT_SPAN_MS), toMs - MAX_SPAN_MS);
  if (!(fromMs < toMs)) throw argumentError("from", fromMs, `ms since 1970 before to, ${toMs}`);
  return { fromMs, toMs, endsMs: wholeBins(fromMs, toMs, MAX_BUCKETS) };
}
