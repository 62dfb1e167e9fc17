import { wrappedLines } from "../axes/text-width.ts";
import { thinned } from "../plot-points.ts";
import { describePicture, notesOf } from "./notes.ts";
import { drawPanel, nameMarginPx, type PanelPlan, panelHeightPx, planPanel } from "./panel.ts";
import type { PictureSpec } from "./picture-spec.ts";
import { plotLines } from "./plot-lines.ts";
import { pictureStyle, READOUT_STYLE } from "./style.ts";
import { safe, xmlText } from "./xml.ts";

export interface PictureForm {
  readonly widthPx: number;
  /** Shows the numbers of a window while the pointer is over it. */
  readonly hasReadouts: boolean;
  /** Before the ids of the picture, which must be unique on a page. */
  readonly id: string;
}

/** Below this width, type and margins are those of a phone. */
const NARROW_PX = 640;
const PANEL_GAP_PX = 28;
const BOLD_FACTOR = 1.1;

/** One SVG picture: title, notes, and for each series a panel with its values and its events per window over time. */
export function drawPicture(spec: PictureSpec, form: PictureForm): string {
  const { widthPx } = form;
  const isNarrow = widthPx < NARROW_PX;
  const [edge, textPx, titlePx] = isNarrow ? [12, 12, 16] : [24, 14, 21];
  const inner = widthPx - 2 * edge;
  const columns = spec.panels.length > 3 && !isNarrow ? 2 : 1;
  const panelWidth = (inner - (columns - 1) * PANEL_GAP_PX) / columns;
  const plan: PanelPlan = {
    ...timeRange(spec),
    widthPx: panelWidth,
    textPx,
    chartPx: chartHeightPx(spec.panels.length, isNarrow),
    readoutLines: form.hasReadouts ? (panelWidth >= 900 ? 1 : panelWidth >= 480 ? 2 : 3) : 0,
    everyMs: spec.everyMs,
    valueName: safe(spec.valueName, 200),
    unit: spec.unit,
    scale: spec.scale,
    lines: plotLines(spec.percentiles),
  };
  // A point a pixel: more cannot be seen.
  const mostPoints = Math.max(50, Math.floor(panelWidth - nameMarginPx(plan) - 60));
  const panels = spec.panels.map((points) => planPanel(thinned(points, mostPoints), plan));
  const labelsPx = Math.max(0, ...panels.map((panel) => panel.labelsPx));

  const title = wrappedLines(safe(spec.title, 200).split(" "), inner, titlePx * BOLD_FACTOR, " ");
  const notes = wrappedLines(notesOf(spec, panels, form.hasReadouts), inner, textPx * 0.9);
  const headPx = edge + title.length * titlePx * 1.2 + notes.length * textPx * 1.3 + textPx * 1.5;
  const heightPx = panelHeightPx(plan);
  const groups = panels.map((panel, index) => {
    const left = edge + (index % columns) * (panelWidth + PANEL_GAP_PX);
    const top = headPx + Math.floor(index / columns) * (heightPx + textPx);
    return `<g class="panel" transform="translate(${left} ${top.toFixed(1)})">\n${drawPanel(panel, plan, labelsPx)}\n</g>`;
  });
  const rowCount = Math.ceil(panels.length / columns);
  const height = Math.ceil(headPx + (rowCount === 0 ? 60 : rowCount * (heightPx + textPx)) + textPx);
  const empty = `<text class="quiet" x="${edge}" y="${headPx + 20}" font-size="${textPx}">no events</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="picture" width="${widthPx}" height="${height}" viewBox="0 0 ${widthPx} ${height}" role="img" aria-labelledby="${form.id}-title ${form.id}-desc">
<title id="${form.id}-title">${xmlText(spec.title, 200)}</title>
<desc id="${form.id}-desc">${xmlText(describePicture(spec, panels, plan.lines), 4000)}</desc>
<style>
${pictureStyle()}${form.hasReadouts ? `\n${READOUT_STYLE}` : ""}
</style>
<rect class="paper" width="100%" height="100%"/>
${title.map((line, n) => `<text class="title" x="${edge}" y="${(edge + titlePx * (0.8 + n * 1.2)).toFixed(1)}" font-size="${titlePx}">${xmlText(line, 200)}</text>`).join("\n")}
${notes.map((line, n) => `<text class="quiet note" x="${edge}" y="${(edge + title.length * titlePx * 1.2 + (n + 1) * textPx * 1.3).toFixed(1)}" font-size="${textPx * 0.9}">${xmlText(line, 400)}</text>`).join("\n")}
${panels.length > 0 ? groups.join("\n") : empty}
</svg>
`;
}

function chartHeightPx(panelCount: number, isNarrow: boolean): number {
  if (panelCount <= 1) return isNarrow ? 220 : 320;
  return isNarrow ? 150 : panelCount <= 3 ? 200 : 160;
}

/** From half a window before the first end to half a window after the last, so that bars fit. */
function timeRange({ panels, everyMs }: PictureSpec): { fromMs: number; toMs: number } {
  const ends = panels.flatMap(({ rows }) => [rows[0]?.endMs ?? 0, rows.at(-1)?.endMs ?? 0]);
  if (ends.length === 0) return { fromMs: 0, toMs: everyMs };
  return { fromMs: Math.min(...ends) - everyMs / 2, toMs: Math.max(...ends) + everyMs / 2 };
}
