import * as layout from "../../generated/layouts/block.ts";
import type { BlockHead, BlockTotals } from "./contract.ts";
import { checkLength } from "./head.ts";

/** Reads the totals of a block, of which the header has the counts. Throws CORRUPT. */
export function readTotals(head: BlockHead, bytes: Uint8Array): BlockTotals {
  checkLength("totals", bytes, layout.TOTALS_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { count, nanCount, positiveInfinityCount, negativeInfinityCount } = head;
  return {
    earliestMs: view.getFloat64(layout.TOTALS_EARLIEST_MS_AT, true),
    latestMs: view.getFloat64(layout.TOTALS_LATEST_MS_AT, true),
    summary: {
      count,
      nanCount,
      positiveInfinityCount,
      negativeInfinityCount,
      sumHigh: view.getFloat64(layout.TOTALS_SUM_HIGH_AT, true),
      sumLow: view.getFloat64(layout.TOTALS_SUM_LOW_AT, true),
      m2: view.getFloat64(layout.TOTALS_M2_AT, true),
      min: view.getFloat64(layout.TOTALS_MIN_AT, true),
      max: view.getFloat64(layout.TOTALS_MAX_AT, true),
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
