import { scaleLinear, scaleLog } from "d3-scale";
import { show } from "../runner/report.ts";
import { escaped } from "./text.ts";

interface Bar {
  readonly label: string;
  readonly value: string | number | undefined;
}

const WIDTH = 680;
const LABEL_WIDTH = 340;
const VALUE_WIDTH = 80;
const ROW_HEIGHT = 20;
/** From this ratio of the largest to the smallest value on, the scale is logarithmic. */
const LOG_RATIO = 50;
const MAX_LABEL = 48;

/** A plot of one column: a bar for each row that has a number. Empty without one. */
export function bars(name: string, rows: readonly Bar[]): string {
  const measured = rows.flatMap(({ label, value }) =>
    typeof value === "number" && Number.isFinite(value) ? [{ label, value }] : [],
  );
  const values = measured.map(({ value }) => value);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0 || max <= 0) return "";
  const isLog = min > 0 && max / min >= LOG_RATIO;
  const range = [0, WIDTH - LABEL_WIDTH - VALUE_WIDTH];
  const widthOf = isLog ? scaleLog([min / 2, max], range) : scaleLinear([0, max], range);
  const lines = measured.map(({ label, value }, i) => {
    const width = Math.max(1, widthOf(value));
    const y = i * ROW_HEIGHT;
    const isOwn = /\boriel\b/.test(label);
    return `<text class="label" x="${LABEL_WIDTH - 8}" y="${y + 14}">${escaped(cut(label))}<title>${escaped(label)}</title></text>
<rect${isOwn ? ' class="own"' : ""} x="${LABEL_WIDTH}" y="${y + 3}" width="${width.toFixed(1)}" height="14" rx="2"/>
<text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${y + 14}">${show(value)}</text>`;
  });
  const title = `${name}${isLog ? " (logarithmic)" : ""}`;
  return `<figure><figcaption>${escaped(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${measured.length * ROW_HEIGHT}" role="img" aria-label="${escaped(title)}">${lines.join("\n")}</svg></figure>`;
}

function cut(label: string): string {
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
}
