import type { LimiterRival } from "../rivals/limiter/limiter.ts";
import { FLEXIBLE } from "../rivals/limiter/limiter-flexible.ts";
import { median, operationsPerSecond, type Slice } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";

/** What a limiter did under one load; slices of one place in their lists were of one turn. */
export interface LimiterMeasured {
  rival: LimiterRival;
  slices: Slice[];
  decided: number;
  denied: number;
}

/** A row for each; how many times faster it is comes from the reference's slices in the same turns. */
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
