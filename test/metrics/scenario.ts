import fc from "fast-check";
import type { Kind } from "./oracle.ts";

export const KINDS: Kind[] = ["success", "failure", "allowed", "denied", "latencySumMs"];
const step = fc.record({
  /** Mostly on, at times far on, back, or back by more than the window. */
  byMs: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 30 }) },
    { weight: 2, arbitrary: fc.constantFrom(10, 20, 50, 100, 1000, 100_000) },
    { weight: 2, arbitrary: fc.integer({ min: -40, max: -1 }) },
    { weight: 1, arbitrary: fc.constantFrom(-50, -100, -130, -5000) },
  ),
  kind: fc.constantFrom(...KINDS),
  amount: fc.integer({ min: 0, max: 20 }),
  asks: fc.boolean(),
});
export const scenario = fc.record({
  sampleCount: fc.constantFrom(1, 2, 3, 10),
  lengthMs: fc.constantFrom(1, 7, 10),
  beginMs: fc.constantFrom<number>(0, 25, 1_600_000_000_003),
  steps: fc.array(step, { minLength: 1, maxLength: 60 }),
});
