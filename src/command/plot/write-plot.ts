import type { Choice } from "../formats/reading.ts";
import type { ReplayOptions } from "../replay/options.ts";
import { unitNamed, unitOfName } from "./axes/units.ts";
import { drawPicture } from "./drawing/picture.ts";
import type { PictureSpec } from "./drawing/picture-spec.ts";
import { pageColors } from "./drawing/style.ts";
import { xmlText } from "./drawing/xml.ts";
import { pictureEnding, pngOf } from "./picture-file.ts";
import type { PlotPoints } from "./plot-points.ts";
import { writeWhole } from "./whole-file.ts";

const MAX_PANELS = 12;

/** Writes the picture that `--plot` asked for. */
export async function writePlot(options: ReplayOptions, points: PlotPoints, choice: Choice | undefined): Promise<void> {
  const { widthPx } = options;
  const file = options.plot as string;
  const spec = pictureOf(options, points, choice);
  const ending = pictureEnding(file);
  if (ending === ".html") return writeWhole(file, htmlPage(spec, widthPx));
  const svg = drawPicture(spec, { widthPx, hasReadouts: false, id: "picture" });
  return writeWhole(file, ending === ".png" ? await pngOf(svg, widthPx) : svg);
}

/** "unit ms, by its name", or empty if the unit was asked for, if no name says it, or if the name is the unit. */
export function unitGuess(options: ReplayOptions, valueName: string): string[] {
  const guessed = options.unit === undefined ? unitOfName(valueName) : undefined;
  return guessed === undefined || guessed.name === valueName ? [] : [`unit ${guessed.name}, by its name`];
}

/** "value" if the input ended before it was known. */
export function valueNameOf(choice: Choice | undefined): string {
  return choice?.value ?? "value";
}

function pictureOf(options: ReplayOptions, points: PlotPoints, choice: Choice | undefined): PictureSpec {
  const { panels, leftOutCount } = points.busiest(MAX_PANELS);
  const by = options.selection.key === undefined ? "" : ` by ${options.selection.key}`;
  const value = valueNameOf(choice);
  const unit = options.unit === undefined ? unitOfName(value) : unitNamed(options.unit);
  const isLabel = unit?.isLabel ?? false;
  return {
    title: `${options.name}: ${value}${by}`,
    valueName: isLabel ? `${value} (${options.unit})` : value,
    unit: unit ?? unitNamed("none"),
    scale: options.scale,
    percentiles: options.percentiles,
    spanMs: options.spanMs,
    everyMs: options.everyMs,
    panels,
    leftOutCount,
    guesses: [
      ...(choice?.guesses ?? []),
      ...(choice?.valueGuess === undefined ? [] : [choice.valueGuess]),
      ...unitGuess(options, value),
    ],
  };
}

/** A page narrower than the wide picture shows the narrow one. */
const NARROW_PX = 360;

/** A page without scripts and without requests. It has the picture for wide windows and for phones, light and dark. */
function htmlPage(spec: PictureSpec, widthPx: number): string {
  const wide = drawPicture(spec, { widthPx, hasReadouts: true, id: "wide" });
  const narrow = drawPicture(spec, { widthPx: NARROW_PX, hasReadouts: true, id: "narrow" });
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${xmlText(spec.title, 200)}</title>
<style>
${pageColors()}
body { margin: 0 } main { max-width: ${widthPx}px; margin: 0 auto }
.picture { display: block; width: 100%; height: auto }
.narrow { display: none }
@media (max-width: 720px) { .wide { display: none } .narrow { display: block; max-width: 480px; margin: 0 auto } }
</style>
</head>
<body>
<main>
<div class="wide">
${wide}</div>
<div class="narrow">
${narrow}</div>
</main>
</body>
</html>
`;
}
