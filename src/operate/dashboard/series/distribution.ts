import type { Series } from "../../../engine/series/series.ts";
import type { Distribution } from "../protocol.ts";
import { binsOf } from "./bins.ts";
import { finite, windowNumbers } from "./numbers.ts";
import type { AskedWindow } from "./window.ts";

const BINS = 64;
/** All whole percentiles, and more of them near the maximum. */
const PERCENTILES = [
  ...Array.from({ length: 100 }, (_, p) => p),
  ...Array.from({ length: 9 }, (_, i) => 99 + (i + 1) / 10),
  99.95,
  99.99,
  100,
];

/** The exact distribution of one window: two queries in one turn, so they share one cut of the journal. */
export async function distributionOf(series: Series, { fromMs, toMs, below }: AskedWindow): Promise<Distribution> {
  const window = { span: toMs - fromMs, at: toMs };
  const [stats, share, values] = await Promise.all([
    series.stats({ ...window, percentiles: PERCENTILES }),
    below === undefined ? undefined : series.fractionBelow(below, window),
    series.values(window),
  ]);
  const bins = binsOf([values], BINS);
  return {
    window: windowNumbers(stats as Parameters<typeof windowNumbers>[0], share),
    percentiles: PERCENTILES.map((p) => ({ p, value: finite(stats.percentiles[p]) })),
    histogram: bins ? { edges: bins.edges, isLog: bins.isLog, counts: bins.counts(values) } : null,
  };
}
