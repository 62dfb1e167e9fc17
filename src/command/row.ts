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
