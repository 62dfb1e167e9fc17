import type { Choice } from "../formats/reading.ts";
import type { ReplayOptions } from "../replay/options.ts";
import { unitNamed, unitOfName } from "./axes/units.ts";
import { drawPicture } from "./drawing/picture.ts";
import type { PictureSpec } from "./drawing/picture-spec.ts";
import { htmlPage } from "./html-page.ts";
import { pictureEnding } from "./picture-file.ts";
import type { PlotPoints } from "./plot-points.ts";
import { pngOf } from "./png.ts";
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
