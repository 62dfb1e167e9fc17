import type { Row } from "../row.ts";

export interface PlotLine {
  readonly name: string;
  readonly color: string;
  pick(row: Row): number;
}

/** Okabe and Ito's colours, which people with red-green blindness can distinguish. */
const COLORS = ["#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9", "#882255"];

/** The mean and the first six requested percentiles. */
export function plotLines(percentiles: readonly number[]): PlotLine[] {
  const lines = percentiles.slice(0, COLORS.length - 1).map((percentile, index) => ({
    name: `p${percentile}`,
    color: COLORS[index + 1] as string,
    pick: (row: Row) => row.percentiles[index] as number,
  }));
  return [{ name: "mean", color: COLORS[0] as string, pick: (row) => row.mean }, ...lines];
}
