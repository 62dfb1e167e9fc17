import type { SlidingTally } from "./tally.ts";

/** When a breaker opens and how it closes, in whole ms and calls; what was not asked for is Infinity. */
export interface Rule {
  /** Whole ticks. */
  spanMs: number;
  /** The window moves by so much, ms: 1 for spans below two minutes, so that a window has at most 150 000 records. */
  tickMs: number;
  minimumCalls: number;
  failureRatio: number;
  slowRatio: number;
  failures: number;
  cooldownMs: number;
  probes: number;
  leaseMs: number;
}

/** What became of a probe; `void` says nothing about the other side. */
export const VERDICT = { void: 0, good: 1, bad: 2 } as const;
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT];

const TICKS_PER_SPAN = 60_000;

/** The largest of 1, 2, 5, 10, 20, ... ms that is at most a 60 000th part of the span. */
export function tickMsOf(spanMs: number): number {
  const most = spanMs / TICKS_PER_SPAN;
  if (most < 2) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([5, 2].find((times) => times * power <= most) ?? 1);
}

/** The instant at which something is counted. */
export function tickOf({ tickMs }: Rule, atMs: number): number {
  return tickMs === 1 ? Math.floor(atMs) : Math.floor(atMs / tickMs) * tickMs;
}

/** What was counted then or before is outside of the window. */
export function cutoffMsOf(rule: Rule, nowMs: number): number {
  return tickOf(rule, nowMs) - rule.spanMs;
}

/** Whether what a window holds opens the circuit. */
export function trips(rule: Rule, calls: number, failures: number, slow: number): boolean {
  if (failures >= rule.failures) return true;
  if (calls < rule.minimumCalls) return false;
  return exceeds(failures / calls, rule.failureRatio) || exceeds(slow / calls, rule.slowRatio);
}

/** A ratio is exceeded by more than it; that of 1, which nothing exceeds, by all. */
function exceeds(share: number, ratio: number): boolean {
  return share > ratio || (ratio === 1 && share >= 1);
}

export function tripsOn(rule: Rule, { calls, failures, slow }: SlidingTally): boolean {
  return trips(rule, calls, failures, slow);
}
