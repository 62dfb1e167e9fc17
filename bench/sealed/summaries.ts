import { Redis } from "ioredis";
import { redisStore } from "../../src/entries/index.ts";
import { SUMMARIES, type Summary, summaryMissing } from "../rivals/summary/summary.ts";
import type { Report, Row } from "../runner/report.ts";
import { ask, PERCENTILES, type Right, rightOf } from "./asked.ts";
import { ofSize } from "./equal-size.ts";
import { errorOf } from "./errors.ts";
import { lognormal, ROUNDINGS, type SealedLoad } from "./events.ts";
import { fill, seal } from "./filled.ts";

export type SummariesOptions = SealedLoad;

export const FULL_SUMMARIES: SummariesOptions = { events: 1_000_000, batch: 32 };
export const SMALL_SUMMARIES: SummariesOptions = { events: 60_000, batch: 32 };

const NAME = "bench summaries";
/** A summary that takes less than the wanted bytes by this share is not called equal. */
const SMALLER = 0.02;

/** Exact percentiles from outlines, and those of DDSketch and t-digest in as many bytes: their errors. There is no time in it. */
export async function benchSummaries(redisUrl: string, load: SummariesOptions): Promise<Report> {
  const report: Report = {
    bench: "summaries",
    title: `p50, p90 and p99 of ${load.events.toLocaleString("en-US")} events from equal numbers of bytes`,
    rows: [],
    notes: [
      "Lognormal latencies, median 5 ms, sigma 0.8, float32. Value errors are percent of the exact value, by a sort. Rank errors are percent of the events.",
      "oriel fetches outlines for these three percentiles, of any window, and keeps each event in Redis. DDSketch and t-digest answer any percentile of the values that were put into them, and cannot drop old ones.",
      "Bytes of DDSketch: its accuracy, the value of its first bin, and the count of each bin, with seven bits in a byte. Its own protobuf has 8 bytes for a bin.",
      "Bytes of t-digest: mean as float32 and count of each centroid, with seven bits in a byte. Its package has no form of its own. Both answered from these bytes alone.",
      "equal: the setting was chosen for the bytes of oriel. largest: the summary does not reach them, because each different value has a centroid. usual: the default of the package.",
    ],
  };
  const able = SUMMARIES.filter((summary) => {
    const reason = summaryMissing(summary);
    if (reason) report.notes.push(`${summary.name} was skipped: ${reason}.`);
    return !reason;
  });
  for (const [values, unitsPerMs] of Object.entries(ROUNDINGS)) {
    const column = lognormal(load.events, unitsPerMs);
    const right = rightOf(column);
    const sorted = column.slice().sort();
    const outlines = await fromOriel(redisUrl, column, load.batch, right);
    const all = [
      { by: "oriel, outlines", size: "equal", setting: "", ...outlines },
      ...able.flatMap((each) => fromSummary(each, column, outlines.bytes)),
    ];
    for (const { by, size, setting, bytes, percentiles } of all)
      report.rows.push({ values, by, size, setting, bytes, ...errorsOf(sorted, right, percentiles) });
  }
  return report;
}

/** The exact answers of a process without a copy, and the bytes that it fetched. */
async function fromOriel(redisUrl: string, column: Float32Array, batch: number, right: Right) {
  const raw = new Redis(redisUrl);
  const store = redisStore(raw, { deadline: 60_000, registry: false });
  const key = store.keyOf(NAME);
  try {
    await seal(store, key, await fill(raw, key, column, batch));
    return await ask(store, NAME, right, "outlines");
  } finally {
    await raw.flushdb();
    await store.close();
    raw.disconnect();
  }
}

/** The answers of a summary whose size is nearest to `bytes`, and of one of the usual size. */
function fromSummary(summary: Summary, column: Float32Array, bytes: number) {
  const usual = { setting: summary.usual, stored: summary.encode(column, summary.usual) };
  const equal = ofSize(summary, column, bytes);
  const isSmaller = equal.stored.length < (1 - SMALLER) * bytes;
  const sizes = [
    { size: isSmaller ? "largest" : "equal", ...equal },
    { size: "usual", ...usual },
  ];
  return sizes.map(({ size, setting, stored }) => ({
    by: summary.name,
    size,
    setting: `${summary.setting} ${Number(setting.toPrecision(3))}`,
    bytes: stored.length,
    percentiles: summary.percentiles(stored, PERCENTILES),
  }));
}

function errorsOf(sorted: Float32Array, right: Right, answers: readonly number[]): Row {
  const row: Row = {};
  for (const [i, p] of PERCENTILES.entries()) {
    const { valuePercent, rankPercent } = errorOf(sorted, p, right.percentiles[i]!, answers[i]!);
    row[`p${p}ValuePercent`] = valuePercent;
    row[`p${p}RankPercent`] = rankPercent;
  }
  return row;
}
