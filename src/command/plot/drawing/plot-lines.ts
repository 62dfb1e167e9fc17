import type { Row } from "../../row.ts";

export interface PlotLine {
  readonly name: string;
  /** Of its stroke: "main" (the lowest percentile), "percentile" or "mean". */
  readonly kind: "main" | "percentile" | "mean";
  pick(row: Row): number;
}

/** Readers cannot distinguish more lines. */
const MAX_PERCENTILES = 6;

/** The lines of a panel from the lowest percentile to the highest, then the mean. */
export function plotLines(percentiles: readonly number[]): PlotLine[] {
  const ascending = percentiles.map((percentile, index) => ({ percentile, index }));
  ascending.sort((a, b) => a.percentile - b.percentile);
  const lines = evenly(ascending, MAX_PERCENTILES).map(({ percentile, index }, place): PlotLine => {
    const kind = place === 0 ? "main" : "percentile";
    return { name: `p${percentile}`, kind, pick: (row) => row.percentiles[index] as number };
  });
  return [...lines, { name: "mean", kind: "mean", pick: (row) => row.mean }];
}

/** At most `count` of them, the first and the last included. */
function evenly<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, i) => all[Math.round((i * (all.length - 1)) / (count - 1))] as T);
}
