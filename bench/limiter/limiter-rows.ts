import type { LimiterRival } from "../rivals/limiter/limiter.ts";
import { FLEXIBLE } from "../rivals/limiter/limiter-flexible.ts";
import { median, operationsPerSecond, type Slice } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";

/** The slices of a limiter under one load. Slices at the same index belong to the same turn. */
export interface LimiterMeasured {
  rival: LimiterRival;
  slices: Slice[];
  decided: number;
  denied: number;
}

/** One row for each. Ratios compare with the reference's slices in the same turns. */
export function limiterRows(load: string, measured: readonly LimiterMeasured[]): Row[] {
  const references = measured.find(({ rival }) => rival === FLEXIBLE)?.slices.map(operationsPerSecond);
  return measured.map(({ rival, slices, decided, denied }) => {
    const rates = slices.map(operationsPerSecond);
    return {
      load,
      limiter: rival.name,
      kind: rival.kind,
      opsPerSecond: median(rates),
      timesFaster: median(rates.map((rate, turn) => rate / (references?.[turn] ?? Number.NaN))),
      deniedShare: denied / decided,
    };
  });
}
