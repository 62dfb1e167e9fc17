import { utcFormat } from "d3-time-format";
import { duration } from "../../../operate/format.ts";
import { formatValue } from "../axes/units.ts";
import type { PlannedPanel } from "./panel.ts";
import type { PictureSpec } from "./picture-spec.ts";
import type { PlotLine } from "./plot-lines.ts";

/** Notes for the reader of the picture: windows, times, scales, guesses, and parts that are not drawn. */
export function notesOf(spec: PictureSpec, panels: readonly PlannedPanel[], hasReadouts: boolean): string[] {
  const every = spec.everyMs === spec.spanMs ? "" : `, one every ${duration(spec.everyMs)}`;
  const others = spec.leftOutCount > 0 ? [`${spec.leftOutCount} or more keys with fewer events are not drawn`] : [];
  const unseen = spec.percentiles.length > 6 ? ["six of the percentiles are drawn"] : [];
  return [
    `windows of ${duration(spec.spanMs)}${every}`,
    ...(panels.length > 0 ? [`times are their ends, ${timeText(panels)}`] : []),
    ...spec.guesses,
    ...(panels.length > 1 ? ["each panel has its own scale"] : []),
    ...thinningNotes(panels),
    ...nonPositiveNotes(panels),
    ...unseen,
    ...others,
    ...(hasReadouts && panels.length > 0 ? ["point at a window to read its numbers"] : []),
  ];
}

function thinningNotes(panels: readonly PlannedPanel[]): string[] {
  const stride = Math.max(...panels.map(({ points }) => points.stride));
  return stride > 1 ? [`of up to ${stride} windows, the one with the largest percentile is drawn`] : [];
}

/** A logarithmic axis that was asked for has no place for negative values. */
function nonPositiveNotes(panels: readonly PlannedPanel[]): string[] {
  const count = panels
    .filter(({ values }) => values.isLog)
    .flatMap(({ points }) => points.rows)
    .filter(({ mean, percentiles }) => [mean, ...percentiles].some((value) => value < 0)).length;
  return count > 0
    ? [`in ${count} ${count === 1 ? "window" : "windows"}, values below 0 are not on the logarithmic axis`]
    : [];
}

function timeText(panels: readonly PlannedPanel[]): string {
  const ends = panels.flatMap(({ points }) => points.rows.map(({ endMs }) => endMs));
  const first = ends.reduce((least, endMs) => Math.min(least, endMs), Number.POSITIVE_INFINITY);
  const last = ends.reduce((most, endMs) => Math.max(most, endMs), Number.NEGATIVE_INFINITY);
  const isWhole = (sizeMs: number) => [first, last].every((endMs) => endMs % sizeMs === 0);
  const clock = isWhole(60_000) ? "%H:%M" : isWhole(1000) ? "%H:%M:%S" : "%H:%M:%S.%L";
  const day = utcFormat("%Y-%m-%d");
  const instant = utcFormat(`%Y-%m-%d ${clock}`);
  const [from, to] = [new Date(first), new Date(last)];
  if (first === last) return `${instant(from)} UTC`;
  return `${instant(from)} to ${day(from) === day(to) ? utcFormat(clock)(to) : instant(to)} UTC`;
}

/** The picture in words, for readers who do not see it. */
export function describePicture(
  spec: PictureSpec,
  panels: readonly PlannedPanel[],
  lines: readonly PlotLine[],
): string {
  if (panels.length === 0) return "There are no events.";
  const texts = panels.map(({ points, values }) => {
    const ranges = lines.map(({ name, pick }) => {
      const [min, max] = rangeOf(points.rows.map(pick));
      return `${name} from ${formatValue(min, spec.unit)} to ${formatValue(max, spec.unit)}`;
    });
    const [least, most] = rangeOf(points.rows.map(({ count }) => count));
    const key = points.key === null ? spec.valueName : `${spec.valueName} of ${points.key || "an empty key"}`;
    const axis = values.isLog ? ", on a logarithmic axis" : "";
    return `${key}${axis}: ${points.rows.length} windows; ${ranges.join(", ")}; ${least} to ${most} events per window.`;
  });
  return `Line charts over time, ${timeText(panels)}, in windows of ${duration(spec.spanMs)}. ${texts.join(" ")}`;
}

/** NaN without a finite value. */
function rangeOf(values: readonly number[]): [min: number, max: number] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [Number.NaN, Number.NaN];
  return finite.reduce<[number, number]>(
    ([min, max], value) => [Math.min(min, value), Math.max(max, value)],
    [finite[0] as number, finite[0] as number],
  );
}
