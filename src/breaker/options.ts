import { argumentError, checkKnown, OrielError, wholeNumber } from "../errors.ts";
import { type Clock, type Duration, durationMs } from "../time.ts";
import { type Rule, tickMsOf } from "./rule.ts";

export interface BreakerRules {
  /** Breakers of one name and span share what they know, over one store. Needed with a store. */
  name?: string | undefined;
  /** The sliding window, 1 ms to 1 day. Up to 2 minutes to the ms, longer ones to a 60 000th part, rounded down to 2, 5, 10, ... ms. */
  span: Duration;
  /** Opens when the share of failed calls is larger, from 0 to 1; a ratio of 1 when all failed. */
  failureRatio?: number | undefined;
  /** Opens when the share of calls that lasted longer than `slowCall` is larger, from 0 to 1; a ratio of 1 when all did. */
  slowRatio?: number | undefined;
  /** With `slowRatio`: 1 ms to 1 day. */
  slowCall?: Duration | undefined;
  /** The ratios say nothing of fewer calls in the window; default 10. */
  minimumCalls?: number | undefined;
  /** Opens with so many failed calls in the window. */
  failures?: number | undefined;
  /** For how long it stays open, 1 ms to 1 day; default 30 s. */
  cooldown?: Duration | undefined;
  /** Calls that must go well to close it; no more are let through until then. 1 to 100, default 1. */
  probes?: number | undefined;
  /** A probe that has not ended after so long is given up, and another call may probe; 1 ms to 1 day, default 30 s. */
  lease?: Duration | undefined;
  /** A process hands in what it has gathered with its first call after so long; 1 ms to 10 s, default 100 ms. */
  flush?: Duration | undefined;
  /** A call that has not ended after so long is aborted, rejects with DEADLINE and counts as a failure; 1 ms to 1 day, default none. */
  timeout?: Duration | undefined;
  /** Which rejections count as failures; default all. Those that do not count as good calls. One that it throws for is a failure. */
  isFailure?: ((error: unknown) => boolean) | undefined;
  /**
   * Which rejections count as nothing, neither good nor bad: a probe then gives its place back. Asked before `isFailure`;
   * default: that of another breaker that is open (OPEN), which says nothing about what is called. One that it throws for is a failure.
   */
  isIgnored?: ((error: unknown) => boolean) | undefined;
  /** Ms that never step back, of calls and, without a store, of windows. Default: the store's, else `performance.now` and what was slept. */
  monotonic?: Clock | undefined;
}

/** With one condition at least: `failureRatio`, `failures`, or `slowRatio` with `slowCall`. */
export type BreakerOptions = BreakerRules &
  ({ failureRatio: number } | { failures: number } | { slowRatio: number; slowCall: Duration });

export interface BreakerSettings {
  rule: Rule;
  /** Infinity where slow calls are not counted. */
  slowMs: number;
  flushMs: number;
  /** Infinity: none. */
  timeoutMs: number;
  isFailure: (error: unknown) => boolean;
  isIgnored: (error: unknown) => boolean;
}

const KNOWN = [
  ...["name", "span", "failureRatio", "slowRatio", "slowCall", "minimumCalls", "failures"],
  ...["cooldown", "probes", "lease", "flush", "timeout", "isFailure", "isIgnored", "monotonic"],
];
const DAY_MS = 86_400_000;
const MOST_CALLS = 2 ** 31 - 1;
const MOST_PROBES = 100;
const LONGEST_FLUSH_MS = 10_000;

export function breakerSettings(options: BreakerOptions): BreakerSettings {
  checkKnown(options, KNOWN);
  const { failureRatio, slowRatio, slowCall, failures, timeout, monotonic } = options;
  const { isFailure = () => true, isIgnored = isOpen } = options;
  if (failureRatio === undefined && slowRatio === undefined && failures === undefined)
    throw argumentError("options", options, "an object with failureRatio, failures, or slowRatio and slowCall");
  if ((slowRatio === undefined) !== (slowCall === undefined))
    throw argumentError("slowCall", slowCall, "given with slowRatio, and only with it");
  for (const [name, given] of Object.entries({ isFailure, isIgnored, monotonic }))
    if (given !== undefined && typeof given !== "function") throw argumentError(name, given, "a function");
  return {
    rule: ruleOf(options),
    slowMs: slowCall === undefined ? Infinity : durationMs("slowCall", slowCall, 1, DAY_MS),
    flushMs: flushMsOf(options),
    timeoutMs: timeout === undefined ? Infinity : durationMs("timeout", timeout, 1, DAY_MS),
    isFailure,
    isIgnored,
  };
}

function isOpen(error: unknown): boolean {
  return error instanceof OrielError && error.code === "OPEN";
}

function ruleOf(options: BreakerOptions): Rule {
  const { span, minimumCalls = 10, failures, cooldown = "30s", probes = 1, lease = "30s" } = options;
  const spanMs = durationMs("span", span, 1, DAY_MS);
  const tickMs = tickMsOf(spanMs);
  return {
    spanMs: Math.ceil(spanMs / tickMs) * tickMs,
    tickMs,
    minimumCalls: wholeNumber("minimumCalls", minimumCalls, 1, MOST_CALLS),
    failureRatio: ratioOf("failureRatio", options.failureRatio),
    slowRatio: ratioOf("slowRatio", options.slowRatio),
    failures: failures === undefined ? Infinity : wholeNumber("failures", failures, 1, MOST_CALLS),
    cooldownMs: durationMs("cooldown", cooldown, 1, DAY_MS),
    probes: wholeNumber("probes", probes, 1, MOST_PROBES),
    leaseMs: durationMs("lease", lease, 1, DAY_MS),
  };
}

function flushMsOf({ flush = 100 }: BreakerOptions): number {
  return durationMs("flush", flush, 1, LONGEST_FLUSH_MS);
}

function ratioOf(argument: string, ratio: number | undefined): number {
  if (ratio === undefined) return Infinity;
  if (typeof ratio !== "number" || !(ratio >= 0 && ratio <= 1)) throw argumentError(argument, ratio, "from 0 to 1");
  return ratio;
}
