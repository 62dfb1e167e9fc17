import type { CountAxis } from "../axes/count-axis.ts";
import type { KeyPoints } from "../plot-points.ts";
import { type ChartFrame, px } from "./value-chart.ts";

/** Bars narrower than this touch. */
const GAP_FROM_PX = 5;

/** The events of each window as bars, in one path. The middle of a bar is the end of its window. */
export function drawCounts({ rows, stride }: KeyPoints, axis: CountAxis, frame: ChartFrame): string {
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
