import { argumentError } from "../../../base/errors.ts";
import { Series } from "../../../engine/series/series.ts";
import { type Outcome, outcomeSeries } from "../../history/names.ts";
import { readOutcomes } from "../../history/read-outcomes.ts";
import type { Identified, Scope } from "../../kinds/scope.ts";
import { csvOf } from "../csv.ts";
import type { LimiterHistory } from "../parts.ts";
import { endsOf } from "../series/view.ts";

function seriesOf(scope: Scope, structure: Identified, outcome: Outcome): Series {
  const name = outcomeSeries(structure.name, outcome);
  return scope.opened(
    { ...structure, id: `${structure.id} ${name}` },
    (store) => new Series(store, name, { retention: MAX_SPAN_MS, values: "float64", nan: "ignore" }),
    (series) => series.close(),
  );
}

/** Decisions per second of each outcome and policy, in each bucket. */
export async function limiterHistory(
  scope: Scope,
  structure: Identified,
  query: URLSearchParams,
): Promise<{ body: LimiterHistory; csv: () => string }> {
  const { nowMs, outcomes } = await readOutcomes(scope.store, structure.name);
  const { fromMs, toMs, endsMs } = historyWindow(nowMs, query);
  const found = await Promise.all(
    outcomes.map(async (outcome) => {
      const series = seriesOf(scope, structure, outcome);
      const starts = [fromMs, ...endsMs];
      const [whole, ...buckets] = await Promise.all([
        series.stats({ at: toMs, span: toMs - fromMs, percentiles: [] }),
        ...endsMs.map((at, i) => series.stats({ at, span: at - starts[i]!, percentiles: [] })),
      ]);
      const perSecond = buckets.map(({ sum }, i) => (sum * 1000) / (endsMs[i]! - starts[i]!));
      return { ...outcome, total: whole.sum, perSecond };
    }),
  );
  const body = { fromMs, toMs, endsMs, outcomes: found };
  const csv = () =>
    csvOf(
      ["end", ...found.map(({ outcome, policy }) => `${outcome} ${policy} /s`)],
      endsMs.map((endMs, i) => [new Date(endMs).toISOString(), ...found.map(({ perSecond }) => perSecond[i] ?? null)]),
    );
  return { body, csv };
}

/** Decisions and denials per second over the last `spanMs`; undefined without a history. */
export async function limiterRates(scope: Scope, structure: Identified, spanMs: number, parts: number) {
  const { nowMs, outcomes } = await readOutcomes(scope.store, structure.name);
  const decided = outcomes.filter(({ outcome }) => outcome !== "shadow");
  if (decided.length === 0) return undefined;
  const partMs = Math.ceil(spanMs / parts);
  const ends = Array.from({ length: parts }, (_, i) => Math.floor(nowMs) - (parts - 1 - i) * partMs);
  const sums = await Promise.all(
    decided.map((outcome) => {
      const series = seriesOf(scope, structure, outcome);
      return Promise.all(ends.map((at) => series.stats({ at, span: partMs, percentiles: [], maxAge: "1s" })));
    }),
  );
  const totalOf = (each: { sum: number }[]) => each.reduce((total, { sum }) => total + sum, 0);
  const seconds = (partMs * parts) / 1000;
  const denied = sums.filter((_, i) => decided[i]!.outcome === "denied");
  return {
    rate: sums.reduce((total, each) => total + totalOf(each), 0) / seconds,
    denied: denied.reduce((total, each) => total + totalOf(each), 0) / seconds,
    spark: ends.map((_, i) => sums.reduce((total, each) => total + each[i]!.sum, 0)),
  };
}

/** Reports of processes come this far apart, so shorter buckets would say nothing. */
const LEAST_BUCKET_MS = 10_000;
const MAX_BUCKETS = 120;
const DEFAULT_SPAN_MS = 900_000;
/** A history that is kept for longer than this is not shown to its beginning: 7 days. */
export const MAX_SPAN_MS = 604_800_000;

interface HistoryWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** Ends of the buckets. If `fromMs` lies inside a bucket, the first one is shorter than the others. */
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
  const buckets = Math.min(MAX_BUCKETS, Math.max(1, Math.floor((toMs - fromMs) / LEAST_BUCKET_MS)));
  return { fromMs, toMs, endsMs: endsOf(fromMs, toMs, buckets) };
}
