import { uniform } from "../events.ts";

export interface SealedLoad {
  events: number;
  /** Events in a frame. There is one event for each ms, and a frame has one time. */
  batch: number;
}

/** The names of the values that are measured, each with the number of its steps in a ms. 0: not rounded. */
export const ROUNDINGS: Readonly<Record<string, number>> = { "rounded to 1 us": 1000, unrounded: 0 };

/** Latencies in ms: median 5 ms, sigma 0.8. */
export function lognormal(count: number, unitsPerMs: number): Float32Array {
  const random = uniform(11);
  return Float32Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const ms = 5 * Math.exp(0.8 * normal);
    return unitsPerMs > 0 ? Math.round(ms * unitsPerMs) / unitsPerMs : ms;
  });
}

/** The time of each event, in ms. */
export function timesOf({ events, batch }: SealedLoad): Float64Array {
  return Float64Array.from({ length: events }, (_, i) => 1_790_000_000_000 + i - (i % batch));
}
