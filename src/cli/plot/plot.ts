import { utcFormat } from "d3-time-format";
import { plotLines } from "./plot-lines.ts";
import { drawPanel } from "./plot-panel.ts";
import type { KeyPoints } from "./plot-points.ts";
import { xmlText } from "./xml.ts";

export interface PlotSpec {
  readonly title: string;
  /** The name of the values, with their unit. */
  readonly axis: string;
  readonly percentiles: readonly number[];
  readonly spanMs: number;
  readonly everyMs: number;
  /** One panel each. */
  readonly panels: readonly KeyPoints[];
  readonly leftOutCount: number;
}

const WIDTH_PX = 1000;
const HEAD_PX = 84;
const FOOT_PX = 26;
const STYLE = `
text { font-family: "Inter", "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #24292f }
.title { font-size: 19px; font-weight: 600 } .subtitle { font-size: 12px; fill: #57606a }
.legend { font-size: 12px } .key { font-size: 13px; font-weight: 600 }
.tick, .label { font-size: 11px; fill: #57606a }
.grid { stroke: #e6e9ec } .axis { stroke: #8c959f }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round }`;

/** One SVG picture: title, legend, and for each series a panel with the mean and the percentiles over time. */
export function drawPlot(spec: PlotSpec): string {
  const { panels } = spec;
  const columnCount = panels.length > 3 ? 2 : 1;
  const panelWidth = (WIDTH_PX - 20) / columnCount;
  const panelHeight = panels.length <= 1 ? 380 : panels.length <= 3 ? 250 : 210;
  const rowCount = Math.max(1, Math.ceil(panels.length / columnCount));
  const height = HEAD_PX + rowCount * panelHeight + FOOT_PX;

  const ends = panels.flatMap(({ rows }) => [rows[0]?.endMs ?? 0, rows.at(-1)?.endMs ?? 0]);
  const fromMs = ends.length > 0 ? Math.min(...ends) : 0;
  const toMs = ends.length > 0 ? Math.max(...ends) : 0;
  const pad = fromMs === toMs ? spec.everyMs : 0;
  const lines = plotLines(spec.percentiles);
  const frame = { fromMs: fromMs - pad, toMs: toMs + pad, everyMs: spec.everyMs, axis: spec.axis, lines };

  const groups = panels.map((points, index) => {
    const left = 10 + (index % columnCount) * panelWidth;
    const top = HEAD_PX + Math.floor(index / columnCount) * panelHeight;
    const body = drawPanel(points, { ...frame, widthPx: panelWidth, heightPx: panelHeight - 8 });
    return `<g class="panel" transform="translate(${left} ${top})">\n${body}\n</g>`;
  });
  const body = panels.length > 0 ? groups : [`<text class="subtitle" x="20" y="${HEAD_PX + 40}">no events</text>`];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH_PX}" height="${height}" viewBox="0 0 ${WIDTH_PX} ${height}" role="img" aria-label="${xmlText(spec.title)}">
<style>${STYLE}
</style>
<rect width="100%" height="100%" fill="#ffffff"/>
<text class="title" x="20" y="32">${xmlText(spec.title)}</text>
<text class="subtitle" x="20" y="52">${xmlText(subtitle(spec, fromMs, toMs), 200)}</text>
${legend(lines)}
${body.join("\n")}
<text class="label" x="${WIDTH_PX / 2}" y="${height - 10}" text-anchor="middle">end of the window (UTC)</text>
</svg>
`;
}

function subtitle({ panels, spanMs, everyMs, leftOutCount }: PlotSpec, fromMs: number, toMs: number): string {
  const day = utcFormat("%Y-%m-%d %H:%M");
  const thinned = panels.some(({ stride }) => stride > 1) ? " · not every window is drawn" : "";
  const others = leftOutCount > 0 ? ` · ${leftOutCount} or more keys with fewer events are not drawn` : "";
  const range = panels.length > 0 ? ` · ${day(new Date(fromMs))} to ${day(new Date(toMs))} UTC` : "";
  return `windows of ${durationText(spanMs)}, one every ${durationText(everyMs)}${range}${thinned}${others}`;
}

function legend(lines: readonly { name: string; color: string }[]): string {
  let left = 20;
  const items = lines.map(({ name, color }) => {
    const item = `<line x1="${left}" x2="${left + 22}" y1="68" y2="68" stroke="${color}" stroke-width="3"/><text class="legend" x="${left + 28}" y="72">${xmlText(name)}</text>`;
    left += 48 + name.length * 7;
    return item;
  });
  return `<g class="legend">${items.join("")}</g>`;
}

/** 300000 is "5 min". */
function durationText(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1000],
  ] as const;
  const [name, sizeMs] = units.find(([, size]) => ms % size === 0) ?? ["ms", 1];
  return `${ms / sizeMs} ${name}`;
}
