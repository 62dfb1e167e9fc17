import { expect } from "vitest";
import { instant } from "../../src/operate/format.ts";
import type { ExpectedRow } from "./brute-force.ts";

interface JsonRow extends Omit<ExpectedRow, "endMs" | "percentiles"> {
  end: string;
  percentiles: Record<string, number>;
  degraded: boolean;
}

/** Every printed JSON line against brute force: counts and percentiles equal, sums within 1e-12 relative, none missing. */
export function expectRows(stdout: string, wanted: readonly ExpectedRow[], percentiles: readonly number[]): void {
  const rows = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonRow);
  expect(rows.map(({ end, key, count }) => [end, key, count])).toEqual(
    wanted.map(({ endMs, key, count }) => [instant(endMs), key, count]),
  );
  for (const [index, row] of rows.entries()) {
    const want = wanted[index] as ExpectedRow;
    if (row.degraded !== false) expect(row).toMatchObject({ degraded: false });
    if (row.count === 0) {
      expect(row).toMatchObject({ sum: 0, mean: null, min: null, max: null, std: null });
      continue;
    }
    expectStats({ ...row, percentiles: percentiles.map((p) => row.percentiles[p] as number) }, want);
  }
}

/** Sums of positive values; a sum that cancels would need its condition number. */
export function expectStats(
  row: Pick<ExpectedRow, "sum" | "mean" | "min" | "max" | "std" | "percentiles">,
  want: Pick<ExpectedRow, "sum" | "mean" | "min" | "max" | "std" | "percentiles">,
): void {
  // Tens of thousands of rows: only a row that is wrong is handed to `expect`.
  const isRight =
    relative(row.sum, want.sum) <= 1e-12 &&
    relative(row.mean, want.mean) <= 1e-12 &&
    Math.abs(row.std - want.std) <= 1e-9 * Math.max(want.std, Math.abs(want.mean) * 1e-3) &&
    row.min === want.min &&
    row.max === want.max &&
    row.percentiles.length === want.percentiles.length &&
    row.percentiles.every((value, i) => Object.is(value, want.percentiles[i]));
  if (!isRight) expect.fail(`${JSON.stringify(row)} instead of ${JSON.stringify(want)}`);
}

function relative(a: number, b: number): number {
  return a === b ? 0 : Math.abs(a - b) / Math.abs(b);
}
