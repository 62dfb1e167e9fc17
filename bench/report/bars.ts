import { scaleLinear, scaleLog } from "d3-scale";
import { show } from "../runner/report.ts";
import { escaped } from "./text.ts";

interface Bar {
  readonly label: string;
  readonly value: string | number | undefined;
}

/** Narrow, so that the text is legible on a phone. Labels are above their bars. */
const WIDTH = 340;
const VALUE_WIDTH = 90;
const ROW_HEIGHT = 38;
/** From this ratio of the largest to the smallest value on, the scale is logarithmic. */
const LOG_RATIO = 50;
const MAX_LABEL = 46;

/** A plot of one column: a bar for each row that has a number. Empty without one. */
export function bars(name: string, rows: readonly Bar[]): string {
  const measured = rows.flatMap(({ label, value }) =>
    typeof value === "number" && Number.isFinite(value) ? [{ label, value }] : [],
  );
  const values = measured.map(({ value }) => value);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0 || max <= 0) return "";
  const isLog = min > 0 && max / min >= LOG_RATIO;
  const range = [0, WIDTH - VALUE_WIDTH];
  const widthOf = isLog ? scaleLog([min / 2, max], range) : scaleLinear([0, max], range);
  const lines = measured.map(({ label, value }, i) => {
    const width = Math.max(1, widthOf(value));
    const y = i * ROW_HEIGHT;
    const isOwn = /\boriel\b/.test(label);
    return `<text class="label" x="0" y="${y + 13}">${escaped(cut(label))}<title>${escaped(label)}</title></text>
<rect${isOwn ? ' class="own"' : ""} x="0" y="${y + 18}" width="${width.toFixed(1)}" height="14" rx="2"/>
<text x="${(width + 6).toFixed(1)}" y="${y + 30}">${show(value)}</text>`;
  });
  const title = `${name}${isLog ? " (logarithmic)" : ""}`;
  return `<figure><figcaption>${escaped(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${measured.length * ROW_HEIGHT}" role="img" aria-label="${escaped(title)}">${lines.join("\n")}</svg></figure>`;
}

function cut(label: string): string {
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
}
