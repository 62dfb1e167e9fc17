const BARS = "▁▂▃▄▅▆▇█";

/** Numbers as bars from 0 to the largest one, the latest at the right, in at most `width` columns. */
export function sparkText(values: readonly number[], width: number): string {
  const shown = values.slice(-width);
  const largest = Math.max(0, ...shown);
  const barOf = (value: number) => BARS[largest > 0 ? Math.round((value / largest) * (BARS.length - 1)) : 0];
  return shown.map(barOf).join("");
}
