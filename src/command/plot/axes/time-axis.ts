import { scaleUtc } from "d3-scale";
import { utcFormat } from "d3-time-format";
import { textWidthPx } from "./text-width.ts";

export interface TimeAxis {
  xOf(atMs: number): number;
  readonly ticks: readonly { readonly x: number; readonly label: string }[];
}

const DAY_MS = 86_400_000;
const MAX_TICKS = 10;
/** Between two labels. */
const GAP_PX = 18;

/** The axis of the ends of the windows, UTC: as many ticks as have labels that do not touch at `sizePx`. */
export function timeAxis(fromMs: number, toMs: number, rangePx: readonly [number, number], sizePx: number): TimeAxis {
  const scale = scaleUtc([fromMs, toMs], rangePx);
  for (let count = MAX_TICKS; ; count--) {
    const dates = scale.ticks(count);
    const label = tickFormat(dates, fromMs, toMs);
    const ticks = dates.map((date) => ({ x: scale(date), label: label(date) }));
    if (haveRoom(ticks, sizePx)) return { xOf: (atMs) => scale(atMs), ticks };
    // The scale may give more ticks than it was asked for.
    if (count === 1) return { xOf: (atMs) => scale(atMs), ticks: ticks.slice(0, 1) };
  }
}

function haveRoom(ticks: TimeAxis["ticks"], sizePx: number): boolean {
  return ticks.every(({ x, label }, index) => {
    const next = ticks[index + 1];
    if (next === undefined) return true;
    return next.x - x >= (textWidthPx(label, sizePx) + textWidthPx(next.label, sizePx)) / 2 + GAP_PX;
  });
}

/** Days show the date, hours the time, and the first hour of a day its date. One rule per axis keeps the ticks uniform. */
function tickFormat(dates: readonly Date[], fromMs: number, toMs: number): (date: Date) => string {
  const stepMs = dates.length > 1 ? Number(dates[1]) - Number(dates[0]) : toMs - fromMs;
  if (stepMs >= DAY_MS) return utcFormat(stepMs >= 300 * DAY_MS ? "%Y" : stepMs >= 27 * DAY_MS ? "%b %Y" : "%-d %b");
  const time = utcFormat(stepMs >= 60_000 ? "%H:%M" : stepMs >= 1000 ? "%H:%M:%S" : "%H:%M:%S.%L");
  const day = utcFormat("%-d %b");
  return (date) => (Number(date) % DAY_MS === 0 && toMs - fromMs > DAY_MS ? day(date) : time(date));
}
