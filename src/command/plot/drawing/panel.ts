import { scaleLinear } from "d3-scale";
import { instant } from "../../../operate/format.ts";
import { fittingText, textWidthPx, wrappedLines } from "../axes/text-width.ts";
import { timeAxis } from "../axes/time-axis.ts";
import { formatValue, type Unit, unitNamed } from "../axes/units.ts";
import { type ScaleChoice, type ValueAxis, valueAxis } from "../axes/value-axis.ts";
import type { KeyPoints } from "../plot-points.ts";
import type { PlotLine } from "./plot-lines.ts";
import { type ChartFrame, drawValues, px } from "./value-chart.ts";
import { safe, xmlText } from "./xml.ts";

/** What all panels of a picture have in common. */
export interface PanelPlan {
  readonly widthPx: number;
  readonly textPx: number;
  /** Between the upper and lower end of the values. */
  readonly chartPx: number;
  /** Above the values, for the numbers of a window; 0 in a picture without them. */
  readonly readoutLines: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly everyMs: number;
  readonly valueName: string;
  readonly unit: Unit;
  readonly scale: ScaleChoice;
  readonly lines: readonly PlotLine[];
}

export interface PlannedPanel {
  readonly points: KeyPoints;
  readonly values: ValueAxis;
  readonly counts: CountAxis;
  /** Of the labels of both axes. */
  readonly labelsPx: number;
}

const COUNT_CHART_PX = 58;

/** Heights from the top of a panel. */
function heights({ textPx, chartPx, readoutLines }: PanelPlan) {
  const readoutTop = textPx * 1.7;
  const top = readoutTop + readoutLines * textPx * 1.2 + textPx * 0.9;
  const bottom = top + chartPx;
  const countTop = bottom + textPx * 2.7;
  const countBottom = countTop + COUNT_CHART_PX;
  return { readoutTop, top, bottom, countTop, countBottom, end: countBottom + textPx * 2.2 };
}

export function panelHeightPx(plan: PanelPlan): number {
  return Math.ceil(heights(plan).end);
}

/** The axes of a panel. All panels are planned before one is drawn, so that their charts begin at the same place. */
export function planPanel(points: KeyPoints, plan: PanelPlan): PlannedPanel {
  const { top, bottom, countTop, countBottom } = heights(plan);
  const all = points.rows.flatMap((row) => plan.lines.map(({ pick }) => pick(row)));
  const values = valueAxis(all, plan.unit, plan.scale, [bottom, top]);
  const counts = countAxis(Math.max(0, ...points.rows.map(({ count }) => count)), [countBottom, countTop]);
  const labels = [...values.ticks, ...counts.ticks].map(({ label }) => textWidthPx(label, plan.textPx * 0.9));
  return { points, values, counts, labelsPx: Math.max(...labels) };
}

/** One series over time: its values above, its events per window below, and one axis of time for both. */
export function drawPanel({ points, values, counts }: PlannedPanel, plan: PanelPlan, labelsPx: number): string {
  const { readoutTop, top, bottom, countTop, countBottom } = heights(plan);
  const { textPx, lines } = plan;
  const leftPx = labelsPx + 10;
  const rightPx = plan.widthPx - nameMarginPx(plan);
  const time = timeAxis(plan.fromMs, plan.toMs, [leftPx, rightPx], textPx * 0.9);
  const chart: ChartFrame = { leftPx, rightPx, topPx: top, bottomPx: bottom, textPx, time, everyMs: plan.everyMs };
  const small = `font-size="${px(textPx * 0.9)}"`;

  const gridOf = (ticks: ValueAxis["ticks"]) =>
    ticks.map(({ y, label }) => {
      const text = `<text class="quiet tick" x="${px(leftPx - 8)}" y="${px(y)}" dy="0.35em" text-anchor="end" ${small}>${xmlText(label)}</text>`;
      return `<path class="grid" d="M${px(leftPx)},${px(y)}H${px(rightPx)}"/>${text}`;
    });
  const timeTicks = time.ticks.map(({ x, label }) => {
    const text = `<text class="quiet time" x="${px(x)}" y="${px(countBottom + textPx * 1.4)}" text-anchor="middle" ${small}>${xmlText(label)}</text>`;
    return `<path class="axis" d="M${px(x)},${px(countBottom)}v4"/>${text}`;
  });
  const baseline = (y: number) => `<path class="axis" d="M${px(leftPx)},${px(y)}H${px(rightPx)}"/>`;
  const readouts =
    plan.readoutLines === 0
      ? ""
      : drawReadouts(points, plan, { ...chart, bottomPx: countBottom }, readoutTop, plan.readoutLines);
  return [
    heading(points.key, values.isLog, plan),
    ...gridOf(values.ticks),
    baseline(bottom),
    drawValues(points, lines, values, chart),
    `<text class="quiet" x="0" y="${px(countTop - textPx * 1.05)}" ${small}>events per window</text>`,
    ...gridOf(counts.ticks),
    drawCounts(points, counts, { ...chart, topPx: countTop, bottomPx: countBottom }),
    baseline(countBottom),
    ...timeTicks,
    readouts,
  ].join("\n");
}

/** Right of the charts, for the names of the lines. */
export function nameMarginPx({ lines, textPx }: PanelPlan): number {
  return 22 + Math.max(...lines.map(({ name }) => textWidthPx(name, textPx, true)));
}

/** The key in bold, then the name of the values. */
function heading(key: string | null, isLog: boolean, { widthPx, textPx, valueName }: PanelPlan): string {
  const axis = isLog ? `${valueName}, logarithmic` : valueName;
  const y = px(textPx * 1.1);
  if (key === null)
    return `<text class="quiet" x="0" y="${y}" font-size="${px(textPx * 0.9)}">${xmlText(fittingText(axis, widthPx, textPx * 0.9), 200)}</text>`;
  const name = fittingText(safe(key, 200), widthPx * 0.62, textPx, true);
  const left = textWidthPx(name, textPx, true) + 12;
  const rest = fittingText(axis, widthPx - left, textPx * 0.9);
  return `<text class="key" x="0" y="${y}" font-size="${textPx}">${xmlText(name, 200)}</text><text class="quiet" x="${px(left)}" y="${y}" font-size="${px(textPx * 0.9)}">${xmlText(rest, 200)}</text>`;
}

/**
 * For each window an area that shows its numbers above the panel while the pointer is on it, and a line at its end. It
 * reaches half way to its neighbours.
 */
function drawReadouts(
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
    const texts = wrappedLines([instant(row.endMs), `events ${row.count}`, ...numbers], frame.rightPx, size)
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

/** Bars narrower than this touch. */
const GAP_FROM_PX = 5;

/** The events of each window as bars, in one path. The middle of a bar is the end of its window. */
function drawCounts({ rows, stride }: KeyPoints, axis: CountAxis, frame: ChartFrame): string {
  const width = frame.time.xOf(frame.everyMs * stride) - frame.time.xOf(0);
  const xs = rows.map(({ endMs }) => frame.time.xOf(endMs));
  // Of several windows the kept one may be anywhere, so narrow bars reach to the middle between two.
  const edge = (x: number, neighbour: number | undefined, side: 1 | -1) => {
    if (width >= GAP_FROM_PX) return x + side * width * 0.4;
    const isNear = neighbour !== undefined && Math.abs(neighbour - x) < 2 * width;
    return isNear ? (x + neighbour) / 2 : x + (side * Math.max(1, width)) / 2;
  };
  const bars = rows.map(({ count }, i) => {
    if (count === 0) return "";
    const left = Math.max(frame.leftPx, edge(xs[i] as number, xs[i - 1], -1));
    const right = Math.min(frame.rightPx, edge(xs[i] as number, xs[i + 1], 1));
    return `M${px(left)},${px(axis.yOf(0))}V${px(axis.yOf(count))}H${px(right)}V${px(axis.yOf(0))}Z`;
  });
  return `<path class="bars" d="${bars.join("")}"/>`;
}

interface CountAxis {
  yOf(count: number): number;
  readonly ticks: readonly { readonly y: number; readonly label: string }[];
}

const COUNTS = unitNamed("none");

/** An axis for numbers of events, from 0, with whole numbers. */
function countAxis(max: number, [bottomPx, topPx]: readonly [number, number]): CountAxis {
  const scale = scaleLinear([0, Math.max(1, max)], [bottomPx, topPx]).nice(2);
  const whole = scale.ticks(2).filter((tick) => Number.isInteger(tick));
  return {
    yOf: (count) => scale(count),
    ticks: whole.map((tick) => ({ y: scale(tick), label: formatValue(tick, COUNTS) })),
  };
}
