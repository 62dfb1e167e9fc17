import { writeFile } from "node:fs/promises";
import type { ReplayOptions } from "../replay/options.ts";
import { drawPlot } from "./plot.ts";
import type { PlotPoints } from "./plot-points.ts";

const MAX_PANELS = 12;

/** Writes the picture that `--plot` asked for. */
export async function writePlot(options: ReplayOptions, points: PlotPoints, valueName: string): Promise<void> {
  const { panels, leftOutCount } = points.busiest(MAX_PANELS);
  const by = options.selection.key === undefined ? "" : ` by ${options.selection.key}`;
  const svg = drawPlot({
    title: `${options.name}: ${valueName}${by}`,
    axis: options.unit === undefined ? valueName : `${valueName} (${options.unit})`,
    percentiles: options.percentiles,
    spanMs: options.spanMs,
    everyMs: options.everyMs,
    panels,
    leftOutCount,
  });
  await writeFile(options.plot as string, svg);
}
