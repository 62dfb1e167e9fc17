import * as layout from "../../../generated/layouts/block.ts";
import type { BlockHead, BlockTotals } from "./contract.ts";
import { checkLength } from "./head.ts";

const copy = new Uint8Array(layout.TOTALS_BYTES);
const numbers = new Float64Array(copy.buffer);
const f64 = (at: number) => numbers[at / 8]!;

/** Reads the totals of a block. Their counts come from its head. Throws CORRUPT. */
export function readTotals(head: BlockHead, bytes: Uint8Array): BlockTotals {
  checkLength("totals", bytes, layout.TOTALS_BYTES);
  // A copy, because a view at any address costs more.
  copy.set(bytes);
  const { count, nanCount, positiveInfinityCount, negativeInfinityCount } = head;
  return {
    earliestMs: f64(layout.TOTALS_EARLIEST_MS_AT),
    latestMs: f64(layout.TOTALS_LATEST_MS_AT),
    summary: {
      count,
      nanCount,
      positiveInfinityCount,
      negativeInfinityCount,
      sumHigh: f64(layout.TOTALS_SUM_HIGH_AT),
      sumLow: f64(layout.TOTALS_SUM_LOW_AT),
      m2: f64(layout.TOTALS_M2_AT),
      min: f64(layout.TOTALS_MIN_AT),
      max: f64(layout.TOTALS_MAX_AT),
    },
  };
}

export function writeTotals({ earliestMs, latestMs, summary }: BlockTotals, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setFloat64(layout.TOTALS_EARLIEST_MS_AT, earliestMs, true);
  view.setFloat64(layout.TOTALS_LATEST_MS_AT, latestMs, true);
  view.setFloat64(layout.TOTALS_MIN_AT, summary.min, true);
  view.setFloat64(layout.TOTALS_MAX_AT, summary.max, true);
  view.setFloat64(layout.TOTALS_SUM_HIGH_AT, summary.sumHigh, true);
  view.setFloat64(layout.TOTALS_SUM_LOW_AT, summary.sumLow, true);
  view.setFloat64(layout.TOTALS_M2_AT, summary.m2, true);
}
