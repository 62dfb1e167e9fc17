import uPlot from "uplot";
import { number, time } from "../../../format.ts";
import { colorOf } from "../dom.ts";
import type { Mark, Span } from "./view-state.ts";

/** Width of the labels of a vertical axis, the same in all charts, so that their times stand below each other. */
const AXIS_PX = 58;
const FONT = "11px ui-sans-serif, system-ui, -apple-system, sans-serif";

export interface ChartSettings {
  readonly height: number;
  readonly series: readonly uPlot.Series[];
  readonly isLog?: boolean;
  /** Of the vertical axis. Default: from the data, with 0. */
  readonly range?: () => [number, number];
  /** Draws below the lines. */
  readonly draw?: (chart: uPlot) => void;
  readonly onCursor?: (index: number | null) => void;
  readonly onSelect?: (span: Span) => void;
}

/** What all charts of a panel show above their data. */
export interface Overlay {
  /** The window shown. */
  span: Span;
  marks: readonly Mark[];
  windows: readonly { name: "A" | "B"; span: Span }[];
}

/** A line needs two buckets. A bucket between empty ones gets a point. */
export const LONE_POINTS: uPlot.Series.Points = {
  show: false,
  size: 5,
  filter(chart, line) {
    const values = chart.data[line]!;
    return [...values.keys()].filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null);
  },
};

/** A chart over time. The cursors of all charts of a page move together. */
export function timeChart(target: HTMLElement, overlay: Overlay, settings: ChartSettings): uPlot {
  const { height, series, isLog = false, range, draw, onCursor, onSelect } = settings;
  const [ink, grid] = [colorOf("--ink-2"), colorOf("--grid")];
  const axis = { stroke: ink, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const options: uPlot.Options = {
    width: Math.max(200, target.clientWidth),
    height,
    // At the right there is room for half of a label.
    padding: [10, 26, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: "oriel", filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: {
      x: { time: true, range: () => [overlay.span.fromMs / 1000, overlay.span.toMs / 1000] },
      y: {
        distr: isLog ? 3 : 1,
        range: range ?? ((_chart, min, max) => rangeOf(min, max, isLog)),
      },
    },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_chart, splits, _axis, _space, increment) => splits.map((s) => labelOf(s * 1000, increment)),
      },
      {
        ...axis,
        size: AXIS_PX,
        ...(isLog && LOG_AXIS),
        values: (_chart, splits) => splits.map((value) => (value === null ? "" : number(value))),
      },
    ],
    series: [{}, ...series],
    hooks: {
      drawAxes: [(chart) => drawBelow(chart, overlay, draw)],
      draw: [(chart) => drawMarks(chart, overlay.marks)],
      setCursor: [(chart) => onCursor?.(chart.cursor.idx ?? null)],
      setSelect: [(chart) => select(chart, onSelect)],
    },
  };
  return new uPlot(options, [[], ...series.map(() => [])], target);
}

function rangeOf(min: number | null, max: number | null, isLog: boolean): [number, number] {
  if (min === null || max === null) return isLog ? [1, 10] : [0, 1];
  if (isLog) return [min / 1.15, max * 1.15];
  const low = Math.min(0, min);
  const high = Math.max(0, max);
  return [low, high === low ? low + 1 : high + (high - low) * 0.06];
}

/** 1, 2 and 5 times the powers of ten inside the range. */
function logSplits(_chart: uPlot, _axis: number, min: number, max: number): number[] {
  const splits: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++)
    for (const digit of [1, 2, 5]) splits.push(Number((digit * 10 ** power).toPrecision(1)));
  const inside = splits.filter((value) => value >= min && value <= max);
  return inside.length > 9 ? inside.filter((value) => /^10*$|^0\.0*1$/.test(String(value))) : inside;
}

/** Without the filter, uPlot labels powers of ten only. */
export const LOG_AXIS: uPlot.Axis = { splits: logSplits, filter: (_chart, splits) => splits };

/** The time, with seconds only where labels are that near, and the date at midnight. */
function labelOf(ms: number, incrementS: number): string {
  const date = new Date(ms);
  if (incrementS >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0))
    return date.toLocaleDateString("en", { month: "short", day: "numeric" });
  return incrementS >= 60 ? time(ms).slice(0, 5) : time(ms);
}

function select(chart: uPlot, onSelect: ((span: Span) => void) | undefined): void {
  const { left, width } = chart.select;
  if (width < 4) return;
  const span = { fromMs: chart.posToVal(left, "x") * 1000, toMs: chart.posToVal(left + width, "x") * 1000 };
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onSelect?.(span);
}

function drawBelow(chart: uPlot, overlay: Overlay, draw: ((chart: uPlot) => void) | undefined): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw?.(chart);
  for (const { name, span } of overlay.windows) {
    const from = chart.valToPos(span.fromMs / 1000, "x", true);
    const to = chart.valToPos(span.toMs / 1000, "x", true);
    ctx.fillStyle = colorOf(name === "A" ? "--a" : "--b");
    // A tint would change the colours of the heat map.
    ctx.globalAlpha = draw ? 0 : 0.08;
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(from, bbox.top, to - from, 4 * devicePixelRatio);
    for (const edge of [from, to - devicePixelRatio]) ctx.fillRect(edge, bbox.top, devicePixelRatio, bbox.height);
  }
  ctx.restore();
}

function drawMarks(chart: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colorOf("--mark");
  ctx.fillStyle = colorOf("--mark");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  marks.forEach(({ atMs }, i) => {
    // Between pixels, a thin line would be two pale ones.
    const x = Math.round(chart.valToPos(atMs / 1000, "x", true)) + (ctx.lineWidth % 2) / 2;
    if (!(x >= bbox.left && x <= bbox.left + bbox.width)) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `600 ${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillText(String(i + 1), x + 3 * devicePixelRatio, bbox.top + 10 * devicePixelRatio);
  });
  ctx.restore();
}
