import { scaleLinear, scaleLog, scaleUtc } from "d3-scale";
import { line } from "d3-shape";
import { utcFormat } from "d3-time-format";
import type { Row } from "../row.ts";
import type { PlotLine } from "./plot-lines.ts";
import type { KeyPoints } from "./plot-points.ts";
import { xmlText } from "./xml.ts";

export interface PanelFrame {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Both ends of the time axis, ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly everyMs: number;
  readonly axis: string;
  readonly lines: readonly PlotLine[];
}

const LEFT_PX = 68;
const RIGHT_PX = 14;
const TOP_PX = 26;
const BOTTOM_PX = 26;
/** Values that are all positive and this far apart are drawn on a logarithmic axis. */
const LOG_RATIO = 1000;

/** One series over time: gridlines, both axes, and a path per line. A line breaks at windows without events. */
export function drawPanel(points: KeyPoints, frame: PanelFrame): string {
  const { widthPx, heightPx, lines } = frame;
  const right = widthPx - RIGHT_PX;
  const bottom = heightPx - BOTTOM_PX;
  const x = scaleUtc([frame.fromMs, frame.toMs], [LEFT_PX, right]);
  const y = valueScale(points.rows, lines, bottom);
  const xCount = Math.max(2, Math.floor((right - LEFT_PX) / 90));
  const timeFormat = tickFormat(frame.fromMs, frame.toMs, xCount, x);

  const grid = y.labels.map(({ value, label }) => {
    const at = y.scale(value).toFixed(1);
    return `<line class="grid" x1="${LEFT_PX}" x2="${right}" y1="${at}" y2="${at}"/><text class="tick" x="${LEFT_PX - 7}" y="${at}" dy="0.33em" text-anchor="end">${xmlText(label)}</text>`;
  });
  const ticks = x.ticks(xCount).map((date) => {
    const at = x(date).toFixed(1);
    return `<line class="axis" x1="${at}" x2="${at}" y1="${bottom}" y2="${bottom + 4}"/><text class="tick" x="${at}" y="${bottom + 16}" text-anchor="middle">${xmlText(timeFormat(date))}</text>`;
  });
  // Drawn from the last to the first, so that the mean is on top.
  const rows = withGaps(points, frame.everyMs);
  const alone = rows.filter((row, index) => row !== null && !rows[index - 1] && !rows[index + 1]) as Row[];
  const paths = [...lines].reverse().map(({ name, color, pick }) => {
    const path = line<Row | null>()
      .defined((row) => row !== null && Number.isFinite(pick(row)))
      .x((row) => x((row as Row).endMs))
      .y((row) => y.scale(pick(row as Row)))
      .digits(1);
    const dots = alone.filter((row) => Number.isFinite(pick(row)));
    const circles = dots.map(
      (row) => `<circle cx="${x(row.endMs).toFixed(1)}" cy="${y.scale(pick(row)).toFixed(1)}" r="2" fill="${color}"/>`,
    );
    return `<path class="line" data-name="${xmlText(name)}" stroke="${color}" d="${path(rows) ?? ""}"/>${circles.join("")}`;
  });
  const middle = (TOP_PX + bottom) / 2;
  const heading =
    points.key === null ? "" : `<text class="key" x="${LEFT_PX}" y="15">${xmlText(points.key, 60)}</text>`;
  const scaleNote = y.isLog ? ", log" : "";
  return [
    heading,
    ...grid,
    `<line class="axis" x1="${LEFT_PX}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    ...ticks,
    `<text class="label" transform="translate(13 ${middle}) rotate(-90)" text-anchor="middle">${xmlText(frame.axis, 40)}${scaleNote}</text>`,
    ...paths,
  ].join("\n");
}

function valueScale(rows: readonly Row[], lines: readonly PlotLine[], bottomPx: number) {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    for (const { pick } of lines) {
      const value = pick(row);
      if (!Number.isFinite(value)) continue;
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  }
  if (min > max) [min, max] = [0, 1];
  const isLog = min > 0 && max / min >= LOG_RATIO;
  const low = isLog ? min : min > 0 && min < max * 0.6 ? 0 : min;
  const high = max > low ? max : low + Math.max(1, Math.abs(low) * 0.1);
  const range = [bottomPx, TOP_PX];
  const count = Math.max(3, Math.round((bottomPx - TOP_PX) / 45));
  const scale = isLog ? scaleLog([low, high], range).nice() : scaleLinear([low, high], range).nice(count);
  const format = scale.tickFormat(count, high >= 10_000 || isLog ? "~s" : undefined);
  const labels = scale.ticks(count).map((value) => ({ value, label: format(value) }));
  return { scale, isLog, labels: labels.filter(({ label }) => label !== "") };
}

/**
 * Days show the date, hours the time, and the first hour of a day its date. One rule per axis keeps the ticks uniform.
 */
function tickFormat(fromMs: number, toMs: number, count: number, x: { ticks(count: number): Date[] }) {
  const ticks = x.ticks(count);
  const stepMs = ticks.length > 1 ? Number(ticks[1]) - Number(ticks[0]) : toMs - fromMs;
  if (stepMs >= 86_400_000) return utcFormat(stepMs >= 27 * 86_400_000 ? "%b %Y" : "%d %b");
  const time = utcFormat(stepMs >= 60_000 ? "%H:%M" : stepMs >= 1000 ? "%H:%M:%S" : "%H:%M:%S.%L");
  const day = utcFormat("%d %b");
  return (date: Date) => (Number(date) % 86_400_000 === 0 && toMs - fromMs > 86_400_000 ? day(date) : time(date));
}

/** The rows with null where at least one window between two of them had no events. */
function withGaps({ rows, stride }: KeyPoints, everyMs: number): (Row | null)[] {
  return rows.flatMap((row, index) => {
    const before = rows[index - 1];
    return before !== undefined && row.endMs - before.endMs > everyMs * stride ? [null, row] : [row];
  });
}
