import type uPlot from "uplot";
import type { SeriesView } from "../../protocol.ts";
import { isDark } from "../theme.ts";

/** Light to dark on a light page, dark to light on a dark one: more events stand out. The order is also right in grey. */
const LIGHT = ["#e6f1f5", "#b3d6e4", "#6fb2cf", "#2f86b0", "#145a86", "#0a2f52"];
const DARK = ["#12303f", "#155272", "#1f7ca3", "#45a8c9", "#8fd3e2", "#e6fbff"];

/** Paints the cells of a heat map below a chart. The colour grows with the logarithm of the count. */
export function drawHeat(chart: uPlot, { heat, endsMs, fromMs }: SeriesView): void {
  if (!heat) return;
  const { ctx } = chart;
  const bins = heat.edges.length - 1;
  const most = heat.cells.reduce((max, count) => Math.max(max, count), 1);
  const colors = isDark() ? DARK : LIGHT;
  const tops = heat.edges.map((edge) => chart.valToPos(edge, "y", true));
  endsMs.forEach((endMs, bucket) => {
    const left = Math.floor(chart.valToPos((endsMs[bucket - 1] ?? fromMs) / 1000, "x", true));
    const right = Math.ceil(chart.valToPos(endMs / 1000, "x", true));
    for (let bin = 0; bin < bins; bin++) {
      const count = heat.cells[bucket * bins + bin]!;
      if (count === 0) continue;
      const share = Math.log(1 + count) / Math.log(1 + most);
      ctx.fillStyle = colors[Math.min(colors.length - 1, Math.floor(share * colors.length))]!;
      const top = Math.floor(tops[bin + 1]!);
      ctx.fillRect(left, top, right - left, Math.max(2, Math.ceil(tops[bin]!) - top));
    }
  });
}
