import type { CAUSE, COMMAND, VERDICT } from "../../generated/layouts/breaker.ts";

/** When a breaker opens and how it closes, in whole ms and calls. A condition that was not given is Infinity. */
export interface Rule {
  /** A whole number of ticks. */
  spanMs: number;
  /** The step of the window, ms. It is 1 below two minutes and grows with the span: a window has at most 150 000 records. */
  tickMs: number;
  minimumCalls: number;
  failureRatio: number;
  slowRatio: number;
  failures: number;
  /** The first cooldown. Each failed probe makes it longer, by `factor`, up to `longestMs`. */
  cooldownMs: number;
  probes: number;
  leaseMs: number;
  /** The share of processes that opens a shared circuit. Infinity: its calls decide. */
  quorum: number;
  factor: number;
  longestMs: number;
  /** The largest share by which a cooldown is shorter. */
  jitter: number;
}

/** The calls counted in a window. */
export interface WindowCounts {
  readonly calls: number;
  readonly failures: number;
  readonly slow: number;
}

/** The processes that called lately, and those of them that see failures. */
export interface Voices {
  readonly callers: number;
  readonly seeing: number;
}

/** What opened a circuit last: its calls or processes, a probe that failed or was given up, or an order. */
export type Cause = (typeof CAUSE)[keyof typeof CAUSE];

/** An order of `open()`, `close()` or `reset()`. */
export type Command = (typeof COMMAND)[keyof typeof COMMAND];

/** How a probe ended. An ignored one says nothing about the called service. */
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT];

const TICKS_PER_SPAN = 60_000;

/** The largest of 1, 2, 5, 10, 20, ... ms that is at most 1/60 000 of the span; at least 1. */
export function tickMsOf(spanMs: number): number {
  const maxMs = spanMs / TICKS_PER_SPAN;
  if (maxMs < 2) return 1;
  const power = 10 ** Math.floor(Math.log10(maxMs));
  return power * ([5, 2].find((times) => times * power <= maxMs) ?? 1);
}

/** The tick in which an event is counted. */
export function tickOf({ tickMs }: Rule, atMs: number): number {
  return tickMs === 1 ? Math.floor(atMs) : Math.floor(atMs / tickMs) * tickMs;
}

/** Events at this time or before are outside the window. */
export function cutoffMsOf(rule: Rule, nowMs: number): number {
  return tickOf(rule, nowMs) - rule.spanMs;
}

/** Whether a window with these counts opens the circuit. `minimumCalls`: 1 for whether a process sees failures at all. */
export function trips(
  rule: Rule,
  { calls, failures, slow }: WindowCounts,
  minimumCalls: number = rule.minimumCalls,
): boolean {
  if (failures >= rule.failures) return true;
  if (calls < minimumCalls) return false;
  return exceeds(failures / calls, rule.failureRatio) || exceeds(slow / calls, rule.slowRatio);
}

/** Whether the processes of a shared circuit decide. */
export function hasQuorum({ quorum }: Rule): boolean {
  return quorum <= 1;
}

/** The same of a circuit whose processes decide, each with one voice. */
export function tripsByQuorum(rule: Rule, { calls, failures }: WindowCounts, { callers, seeing }: Voices): boolean {
  return (calls >= rule.minimumCalls || failures >= rule.failures) && exceeds(seeing / callers, rule.quorum);
}

/** A share exceeds a ratio if it is larger. No share is larger than 1, so a ratio of 1 is exceeded by a share of 1. */
export function exceeds(share: number, ratio: number): boolean {
  return share > ratio || (ratio === 1 && share >= 1);
}
