import { scaleLinear } from "d3-scale";
import { formatValue, unitNamed } from "./units.ts";

export interface CountAxis {
  yOf(count: number): number;
  readonly ticks: readonly { readonly y: number; readonly label: string }[];
}

const COUNTS = unitNamed("none");

/** An axis for numbers of events, from 0, with whole numbers. */
export function countAxis(max: number, [bottomPx, topPx]: readonly [number, number]): CountAxis {
  const scale = scaleLinear([0, Math.max(1, max)], [bottomPx, topPx]).nice(2);
  const whole = scale.ticks(2).filter((tick) => Number.isInteger(tick));
  return {
    yOf: (count) => scale(count),
    ticks: whole.map((tick) => ({ y: scale(tick), label: formatValue(tick, COUNTS) })),
  };
}
