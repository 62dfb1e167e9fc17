import { warn } from "./warn.ts";

let isWarned = false;

/**
 * Warns, once in a process, of percentiles that look like fractions: none is above 1, and one lies between 0 and 1. They
 * are answered all the same, since the percentile 0.99 is a percentile. Called where options are checked: one comparison
 * for [50, 99].
 */
export function warnOfFractions(percentiles: readonly number[]): void {
  if (isWarned) return;
  let fraction: number | undefined;
  for (const p of percentiles) {
    // Values that are not numbers are refused later, by name.
    if (typeof p !== "number" || p > 1) return;
    if (p > 0 && p < 1) fraction ??= p;
  }
  if (fraction === undefined) return;
  isWarned = true;
  const percent = Number((fraction * 100).toPrecision(12));
  warn(
    `percentiles is [${percentiles.slice(0, 5).join(", ")}]: each is in percent, from 0 to 100; did you mean ${percent}?`,
    "ORIEL_PERCENTILES_AS_FRACTIONS",
  );
}
