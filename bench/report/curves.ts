import { scaleLinear } from "d3-scale";
import { show } from "../runner/report.ts";
import { escaped } from "./text.ts";

/** Some columns of the same unit, drawn over one axis. */
export interface Curve {
  readonly title: string;
  /** The columns with their names. The first one is drawn strongest. */
  readonly columns: Readonly<Record<string, string>>;
}

const WIDTH = 340;
const HEIGHT = 150;
const LEFT = 66;
const BOTTOM = 36;
const TOP = 8;

/** A picture with a line for each column, over `along`. There is a row at least. */
export function curve(
  { title, columns }: Curve,
  along: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const names = Object.keys(columns);
  const numbers = (name: string) => rows.map((row) => Number(row[name]));
  const [first, last] = [numbers(along)[0]!, numbers(along).at(-1)!];
  const largest = Math.max(...names.flatMap(numbers));
  const x = scaleLinear([first, last], [LEFT, WIDTH - 4]);
  const y = scaleLinear([0, largest > 0 ? largest : 1], [HEIGHT - BOTTOM, TOP]).nice(3);
  const lines = names.map((name, i) => {
    const points = rows.map((row) => `${x(Number(row[along])).toFixed(1)},${y(Number(row[name])).toFixed(1)}`);
    return `<polyline${i === 0 ? ' class="own"' : ""} points="${points.join(" ")}"/>`;
  });
  const levels = y.ticks(3).map((level) => {
    const at = y(level).toFixed(1);
    return `<line x1="${LEFT}" x2="${WIDTH}" y1="${at}" y2="${at}"/><text class="label" x="${LEFT - 6}" y="${(y(level) + 4).toFixed(1)}" text-anchor="end">${show(level)}</text>`;
  });
  const times = x
    .ticks(5)
    .map(
      (time) =>
        `<text class="label" x="${x(time).toFixed(1)}" y="${HEIGHT - 20}" text-anchor="middle">${show(time)}</text>`,
    );
  const heading = names.length > 1 ? `${title}: ${Object.values(columns).join(", and paler ")}` : title;
  const under = `<text class="label" x="${WIDTH - 4}" y="${HEIGHT - 4}" text-anchor="end">${escaped(along)}</text>`;
  // The strongest line is drawn last, above the others.
  const parts = [...levels, ...times, under, ...lines.reverse()].join("\n");
  return `<figure><figcaption>${escaped(heading)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(heading)}">${parts}</svg></figure>`;
}
