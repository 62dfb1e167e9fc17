import { instantText } from "../../row.ts";
import { wrappedLines } from "../axes/text-width.ts";
import { formatValue, type Unit } from "../axes/units.ts";
import type { KeyPoints } from "../plot-points.ts";
import type { PlotLine } from "./plot-lines.ts";
import { type ChartFrame, px } from "./value-chart.ts";
import { xmlText } from "./xml.ts";

/**
 * For each window an area that shows its numbers above the panel while the pointer is on it, and a line at its end. It
 * reaches half way to its neighbours.
 */
export function drawReadouts(
  { rows }: KeyPoints,
  { lines, unit }: { readonly lines: readonly PlotLine[]; readonly unit: Unit },
  frame: ChartFrame,
  textTopPx: number,
  lineCount: number,
): string {
  const size = frame.textPx * 0.9;
  const xs = rows.map(({ endMs }) => frame.time.xOf(endMs));
  const windows = rows.map((row, i) => {
    const x = xs[i] as number;
    const left = i === 0 ? frame.leftPx : ((xs[i - 1] as number) + x) / 2;
    const right = i === rows.length - 1 ? frame.rightPx : (x + (xs[i + 1] as number)) / 2;
    const numbers = lines.map(({ name, pick }) => `${name} ${formatValue(pick(row), unit, 4)}`);
    const texts = wrappedLines([instantText(row.endMs), `events ${row.count}`, ...numbers], frame.rightPx, size)
      .slice(0, lineCount)
      .map((text, n) => {
        const y = textTopPx + (n + 1) * size * 1.3;
        return `<text x="0" y="${px(y)}" font-size="${px(size)}">${xmlText(text, 200)}</text>`;
      });
    const rect = `<rect x="${px(left)}" y="${px(frame.topPx)}" width="${px(Math.max(0.5, right - left))}" height="${px(frame.bottomPx - frame.topPx)}"/>`;
    const mark = `<path class="axis" d="M${px(x)},${px(frame.topPx)}V${px(frame.bottomPx)}"/>`;
    return `<g class="window">${rect}<g>${mark}${texts.join("")}</g></g>`;
  });
  return windows.join("\n");
}
