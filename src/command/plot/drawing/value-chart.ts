import { area, line } from "d3-shape";
import type { Row } from "../../row.ts";
import type { TimeAxis } from "../axes/time-axis.ts";
import type { ValueAxis } from "../axes/value-axis.ts";
import type { KeyPoints } from "../plot-points.ts";
import type { PlotLine } from "./plot-lines.ts";
import { xmlText } from "./xml.ts";

export interface ChartFrame {
  readonly leftPx: number;
  readonly rightPx: number;
  readonly topPx: number;
  readonly bottomPx: number;
  readonly textPx: number;
  readonly time: TimeAxis;
  readonly everyMs: number;
}

/** Between the end of a line and its label. */
const LABEL_GAP_PX = 12;

/** The band between the lowest and the highest percentile, the lines, and their names at their ends. */
export function drawValues(points: KeyPoints, lines: readonly PlotLine[], axis: ValueAxis, frame: ChartFrame): string {
  const rows = withGaps(points, frame.everyMs);
  const alone = rows.filter((row, index) => row !== null && !rows[index - 1] && !rows[index + 1]) as Row[];
  const percentiles = lines.filter(({ kind }) => kind !== "mean");
  const xOf = (row: Row | null) => frame.time.xOf((row as Row).endMs);
  const paths = lines.map(({ name, kind, pick }) => {
    const path = line<Row | null>()
      .defined((row) => row !== null && axis.has(pick(row)))
      .x(xOf)
      .y((row) => axis.yOf(pick(row as Row)))
      .digits(1);
    const dots = alone.filter((row) => axis.has(pick(row)));
    const circles = dots.map(
      (row) => `<circle class="dot-${kind}" cx="${px(xOf(row))}" cy="${px(axis.yOf(pick(row)))}" r="2.5"/>`,
    );
    return `<path class="line ${kind}" data-name="${xmlText(name)}" d="${path(rows) ?? ""}"/>${circles.join("")}`;
  });
  return [drawBand(rows, percentiles, axis, xOf), ...paths, drawNames(points.rows, lines, axis, frame)].join("\n");
}

export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function drawBand(
  rows: readonly (Row | null)[],
  percentiles: readonly PlotLine[],
  axis: ValueAxis,
  xOf: (row: Row | null) => number,
): string {
  if (percentiles.length < 2) return "";
  const [lowest, highest] = [percentiles[0] as PlotLine, percentiles.at(-1) as PlotLine];
  const band = area<Row | null>()
    .defined((row) => row !== null && axis.has(lowest.pick(row)) && axis.has(highest.pick(row)))
    .x(xOf)
    .y0((row) => axis.yOf(lowest.pick(row as Row)))
    .y1((row) => axis.yOf(highest.pick(row as Row)))
    .digits(1);
  return `<path class="band" data-name="${xmlText(`${lowest.name} to ${highest.name}`)}" d="${band([...rows]) ?? ""}"/>`;
}

/** The name of each line to the right of its last point, with a stem where the name had to move. */
function drawNames(rows: readonly Row[], lines: readonly PlotLine[], axis: ValueAxis, frame: ChartFrame): string {
  // Of equal ends, the highest percentile is above.
  const downwards = [...lines].sort((a, b) => Number(a.kind === "mean") - Number(b.kind === "mean")).reverse();
  const ends = downwards.flatMap(({ name, kind, pick }) => {
    const row = rows.filter((each) => axis.has(pick(each))).at(-1);
    return row === undefined ? [] : [{ name, kind, lineY: axis.yOf(pick(row)), lineX: frame.time.xOf(row.endMs) }];
  });
  const x = Math.max(...ends.map(({ lineX }) => lineX)) + LABEL_GAP_PX;
  const startOf = new Map(ends.map(({ name, lineX }) => [name, lineX]));
  const placed = placeLabels(ends, frame.textPx * 1.2, frame.topPx, frame.bottomPx - frame.textPx * 0.4);
  return placed
    .map(({ name, kind, lineY, y }) => {
      const isMoved = Math.abs(y - lineY) > 3 || x - (startOf.get(name) as number) > LABEL_GAP_PX + 1;
      const stem = !isMoved
        ? ""
        : `<path class="stem ${kind}" d="M${px((startOf.get(name) as number) + 2)},${px(lineY)}L${px(x - 3)},${px(y)}"/>`;
      return `${stem}<text class="name name-${kind}" x="${px(x)}" y="${px(y)}" dy="0.35em" font-size="${px(frame.textPx)}">${xmlText(name)}</text>`;
    })
    .join("");
}

/** The rows with null where at least one window between two of them had no events. */
function withGaps({ rows, stride }: KeyPoints, everyMs: number): (Row | null)[] {
  const longestMs = everyMs * (2 * stride - 1); // between the kept windows of two groups
  return rows.flatMap((row, index) => {
    const before = rows[index - 1];
    return before !== undefined && row.endMs - before.endMs > longestMs ? [null, row] : [row];
  });
}

export interface LineLabel {
  readonly name: string;
  readonly kind: string;
  /** Where its line ends. */
  readonly lineY: number;
}
export interface PlacedLabel extends LineLabel {
  /** The middle of the text. */
  readonly y: number;
}

/** Moves the labels as little as needed so that they are `gapPx` apart, in the order of their lines, between both ends. */
export function placeLabels(
  labels: readonly LineLabel[],
  gapPx: number,
  topPx: number,
  bottomPx: number,
): PlacedLabel[] {
  // Groups of touching labels, each as near to its lines as possible: its middle is the middle of their ends.
  const groups: { members: LineLabel[]; middle: number }[] = [];
  const half = (count: number) => ((count - 1) * gapPx) / 2;
  const clamp = (middle: number, count: number) =>
    Math.max(topPx + half(count), Math.min(bottomPx - half(count), middle));
  for (const label of [...labels].sort((a, b) => a.lineY - b.lineY)) {
    let group = { members: [label], middle: clamp(label.lineY, 1) };
    for (let before = groups.at(-1); before !== undefined; before = groups.at(-1)) {
      const count = before.members.length;
      if (before.middle + half(count) + gapPx <= group.middle - half(group.members.length)) break;
      groups.pop();
      const members = [...before.members, ...group.members];
      const sum = members.reduce((total, { lineY }) => total + lineY, 0);
      group = { members, middle: clamp(sum / members.length, members.length) };
    }
    groups.push(group);
  }
  return groups.flatMap(({ members, middle }) =>
    members.map((label, index) => ({ ...label, y: middle - half(members.length) + index * gapPx })),
  );
}
