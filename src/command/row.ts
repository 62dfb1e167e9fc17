/** One window of one series, as printed. */
export interface Row {
  readonly endMs: number;
  readonly key: string | null;
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  readonly std: number;
  /** In the order of the percentiles that were asked for. */
  readonly percentiles: readonly number[];
  /** True when events of this window may be missing. */
  readonly degraded: boolean;
}

/** ISO 8601 in UTC, with ms only if they are not zero. */
export function instantText(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? `${atMs} ms` : date.toISOString().replace(".000Z", "Z");
}

/** At most seven digits; whole numbers in full. NaN (no value) is "-". */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return "-";
  if (Number.isSafeInteger(value)) return String(value);
  return String(Number(value.toPrecision(7)));
}
