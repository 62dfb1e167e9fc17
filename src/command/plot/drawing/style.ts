/**
 * Colours of the picture. Percentiles are blue and the mean is orange and dashed: people with each kind of colour blindness
 * distinguish these two, and each line has its name at its end.
 */
const LIGHT = {
  paper: "#ffffff",
  text: "#1f2328",
  quiet: "#59636e",
  grid: "#e4e8ec",
  axis: "#8c959f",
  percentile: "#0b62b0",
  mean: "#bc4c00",
  bar: "#8594a5",
};
const DARK: typeof LIGHT = {
  paper: "#0d1117",
  text: "#e6edf3",
  quiet: "#9ea7b3",
  grid: "#262c36",
  axis: "#6e7681",
  percentile: "#6cb6ff",
  mean: "#ffa657",
  bar: "#66717f",
};

const FONTS = `"Inter", system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif`;

/** The style of a picture: light, and dark where the reader's system is. Without variables, which not all viewers know. */
export function pictureStyle(): string {
  return `text { font-family: ${FONTS} }
.title, .key { font-weight: 600 } .line, .stem { fill: none; stroke-linejoin: round; stroke-linecap: round }
.line { stroke-width: 1.25 } .main { stroke-width: 2.25 } .mean { stroke-width: 1.75; stroke-dasharray: 6 4 }
.stem { stroke-width: 1; stroke-opacity: 0.6; stroke-dasharray: none } .band { fill-opacity: 0.17 } .name { font-weight: 600 }
${colors(LIGHT)}
@media (prefers-color-scheme: dark) {
${colors(DARK)}
}`;
}

function colors({ paper, text, quiet, grid, axis, percentile, mean, bar }: typeof LIGHT): string {
  return `.paper { fill: ${paper} } text { fill: ${text} } .quiet { fill: ${quiet} }
.grid { stroke: ${grid} } .axis { stroke: ${axis} } .bars { fill: ${bar} } .band { fill: ${percentile} }
.main, .percentile { stroke: ${percentile} } .mean { stroke: ${mean} }
.dot-main, .dot-percentile, .name-main, .name-percentile { fill: ${percentile} } .dot-mean, .name-mean { fill: ${mean} }`;
}

/** The colours of the page around a picture. */
export function pageColors(): string {
  return `:root { color-scheme: light dark } body { background: ${LIGHT.paper} }
@media (prefers-color-scheme: dark) { body { background: ${DARK.paper} } }`;
}

/** Each readout shows while the pointer is over its window. It works without scripts. */
export const READOUT_STYLE = `.window rect { fill: transparent } .window g { visibility: hidden; pointer-events: none }
.window:hover g { visibility: visible }`;
