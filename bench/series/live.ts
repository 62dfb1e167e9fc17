import { type Distribution, draw } from "../distributions.ts";
import { type Contender, takeTurns } from "../lock/turns.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";
import type { Report, Row } from "../runner/report.ts";
import { Feed } from "./resident-feed.ts";

export interface LiveOptions {
  /** Events in the window. */
  sizes: readonly number[];
  distributions: readonly Distribution[];
  percentiles: readonly number[];
  turns: number;
  /** Events in a turn, each a ms after the last. */
  steps: number;
}

export const FULL_LIVE: LiveOptions = {
  sizes: [100_000, 1_000_000],
  distributions: ["lognormal", "drift", "ties"],
  percentiles: [99, 50],
  turns: 7,
  steps: 200_000,
};
export const SMALL_LIVE: LiveOptions = {
  sizes: [2_000],
  distributions: ["lognormal"],
  percentiles: [99],
  turns: 1,
  steps: 100,
};

const PAIR = "record and percentile";
const RECORD = "record alone";
const CLOCK = "yardstick: Date.now()";
const INCREMENT = "yardstick: counts[i]++";
/** Answers that are compared with stats before the timing starts. */
const COMPARED = 200;

/** `LocalSeries`: a fresh percentile after every event. */
export async function benchLive(options: LiveOptions): Promise<Report> {
  const report: Report = {
    bench: "live",
    title: "LocalSeries.percentile after every record: the clock moves by 1 ms, one event enters and one leaves",
    rows: [],
    notes: [
      "The window holds the events of the table. pairNs is the time of one record and one percentile, mean of a turn, median over turns.",
      "recordNs is the time of the same records in another series, without queries. dateNowNs and incrementNs are the times of one Date.now() and one increment in a typed array, in the same turns.",
      "All answers are added up (checksum in --json). 200 of them were compared with stats, and the last one also with a sort of the window.",
    ],
  };
  for (const distribution of options.distributions)
    for (const events of options.sizes)
      for (const p of options.percentiles) report.rows.push(await benchOne(distribution, events, p, options));
  return report;
}

async function benchOne(values: Distribution, events: number, p: number, options: LiveOptions): Promise<Row> {
  const { steps, turns } = options;
  const drawn = draw(values, events + steps * (turns + 2), 41);
  const asked = new Feed(drawn, events).fill();
  const alone = new Feed(drawn, events).fill();
  const counts = new Int32Array(4096);
  let checksum = 0;
  const timed = (run: () => number) => () => {
    const startMs = performance.now();
    checksum += run();
    return ((performance.now() - startMs) * 1000) / steps;
  };
  const contenders: Contender[] = [
    { name: PAIR, turnUs: timed(() => askAfterEach(asked, p, steps)) },
    { name: RECORD, turnUs: timed(() => recordEach(alone, steps)) },
    { name: CLOCK, turnUs: timed(() => readClock(steps)) },
    { name: INCREMENT, turnUs: timed(() => increment(counts, steps)) },
  ];
  for (const { turnUs } of contenders) await turnUs();
  compare(asked, p, Math.min(COMPARED, steps));
  checksum = 0;
  const taken = await takeTurns(contenders, turns);
  check(asked, p);
  const [pairNs, recordNs, dateNowNs, incrementNs] = contenders.map(({ name }) => taken.medianUs(name) * 1000);
  const row = { values, events, percentile: p, pairNs, recordNs, dateNowNs, incrementNs, checksum };
  if (!Number.isFinite(checksum)) throw new Error(`the answers add up to ${checksum}`);
  return row as Row;
}

function askAfterEach(feed: Feed, p: number, steps: number): number {
  const { series } = feed;
  let sum = 0;
  for (let i = 0; i < steps; i++) {
    feed.next();
    sum += series.percentile(p);
  }
  return sum;
}

function recordEach(feed: Feed, steps: number): number {
  for (let i = 0; i < steps; i++) feed.next();
  return feed.nowMs;
}

function readClock(steps: number): number {
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += Date.now() & 1;
  return sum;
}

function increment(counts: Int32Array, steps: number): number {
  for (let i = 0; i < steps; i++) counts[i & 4095]!++;
  return counts[0] as number;
}

/** Compares each answer with the ordinary selection. */
function compare(feed: Feed, p: number, steps: number): void {
  for (let i = 0; i < steps; i++) {
    feed.next();
    const [live, right] = [feed.series.percentile(p), feed.series.stats({ percentiles: [p] }).percentiles[p]];
    if (live !== right) throw new Error(`LocalSeries.percentile(${p}) answered ${live}; stats answered ${right}`);
  }
}

function check(feed: Feed, p: number): void {
  const live = feed.series.percentile(p);
  const { [p]: looked } = feed.series.stats({ percentiles: [p] }).percentiles;
  const right = sortedPercentile(feed.series.values() as Float32Array, p);
  if (live !== right || looked !== right)
    throw new Error(`LocalSeries.percentile(${p}) answered ${live}, stats ${looked}; right is ${right}`);
}
