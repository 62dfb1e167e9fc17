import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import { type Distribution, draw } from "../distributions.ts";
import { uniform } from "../events.ts";
import { externalBytes } from "../external-bytes.ts";
import { takeTurns } from "../lock/turns.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";
import type { Row } from "../runner/report.ts";
import { Feed } from "./resident-feed.ts";

const PERCENTILES = [50, 90, 99];
const BY_INDEX = "a window not asked for before";
const BY_RUNS = "the same, from sorted runs";
/** Queries that build the index, and compile the code. */
const MAX_WARM = 2000;
/** Windows that both ways answer, and that are compared. */
const COMPARED = 20;
/** Sorted runs take ms and leave garbage, so a turn of them has fewer queries, and one of the index more. */
const RUNS_SHARE = 20;
const INDEX_TIMES = 10;

interface Way {
  feed: Feed;
  random: () => number;
}

/** All statistics of random windows, one more event before each: by the index, and as without one. */
export async function freshRows(
  distribution: Distribution,
  size: number,
  turns: number,
  queries: number,
): Promise<Row[]> {
  const warm = Math.min(MAX_WARM, 20 * queries);
  const values = draw(distribution, size + warm + COMPARED + INDEX_TIMES * queries * turns, 23);
  const wayOf = (minEvents: number) => ({
    feed: new Feed(values, size, "float32", { minEvents, patience: 4, eventsPerStep: 8 }).fill(),
    random: uniform(24),
  });
  const runs = wayOf(Number.POSITIVE_INFINITY);
  const beforeBytes = await externalBytes();
  const index = wayOf(Math.min(size, 1024));
  for (let i = 0; i < warm; i++) next(index);
  const bytesPerEvent = ((await externalBytes()) - beforeBytes) / size;
  compare(index, runs, warm);
  const turn = (way: Way, count: number) => () => {
    const startMs = performance.now();
    for (let i = 0; i < count; i++) next(way);
    return ((performance.now() - startMs) * 1000) / count;
  };
  const timed = await takeTurns(
    [
      { name: BY_RUNS, turnUs: turn(runs, Math.max(1, Math.floor(queries / RUNS_SHARE))) },
      { name: BY_INDEX, turnUs: turn(index, INDEX_TIMES * queries) },
    ],
    turns,
  );
  return [BY_INDEX, BY_RUNS].map((what) => ({
    values: distribution,
    events: size,
    what,
    us: timed.medianUs(what),
    timesFaster: Number.NaN,
    timesRuns: what === BY_INDEX ? timed.timesFaster(BY_INDEX, BY_RUNS) : Number.NaN,
    millionPerSecond: Number.NaN,
    pauseMs: Number.NaN,
    bytesPerEvent: what === BY_INDEX ? bytesPerEvent : Number.NaN,
  }));
}

function next({ feed, random }: Way): WindowStats {
  feed.next();
  const [from, to] = [random(), random()].sort((a, b) => a - b) as [number, number];
  return ask(feed, from, to);
}

/** The window between two shares of the retention, of at least 1 ms. */
function ask({ series, nowMs, spanMs }: Feed, from: number, to: number): WindowStats {
  const span = 1 + Math.floor((to - from) * (spanMs - 1));
  return series.stats({ span, at: nowMs - Math.floor((1 - to) * (spanMs - 1)), percentiles: PERCENTILES });
}

/** Both ways answer the same. The first answer is also computed from the values. */
function compare(index: Way, runs: Way, warm: number): void {
  for (let i = 0; i < warm; i++) {
    runs.feed.next();
    runs.random();
    runs.random();
  }
  for (let i = 0; i < COMPARED; i++) {
    const [one, other] = [next(index), next(runs)];
    const exact = ({ count, min, max, percentiles }: WindowStats) => JSON.stringify([count, min, max, percentiles]);
    const near = [one.sum / other.sum, one.std / other.std].every((ratio) => Math.abs(ratio - 1) < 1e-9);
    if (exact(one) !== exact(other) || !(near || one.count < 2))
      throw new Error(`the index answered ${JSON.stringify(one)}; sorted runs ${JSON.stringify(other)}`);
    if (i > 0) continue;
    const held = index.feed.series.values({ span: one.to - one.from, at: one.to }) as Float32Array;
    if (one.count !== held.length || one.percentiles[99] !== sortedPercentile(held, 99))
      throw new Error(`the index answered ${JSON.stringify(one)}; the window has ${held.length} values`);
  }
}
