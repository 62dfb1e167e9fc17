import { argumentError, checkKnown, wholeNumber } from "../errors.ts";
import { type Clock, type Duration, durationMs } from "../time.ts";
import { type Rule, tickMsOf } from "./rule.ts";

export interface BreakerOptions {
  /** Breakers of one name and span share what they know, over one store. Needed with a store. */
  name?: string;
  /** The sliding window, 1 ms to 1 day. Up to 2 minutes to the ms, longer ones to a 60 000th part, rounded down to 2, 5, 10, ... ms. */
  span: Duration;
  /** Opens when the share of failed calls is larger, from 0 to 1; a ratio of 1 when all failed. */
  failureRatio?: number;
  /** Opens when the share of calls that lasted longer than `slowMs` is larger, from 0 to 1; a ratio of 1 when all did. */
  slowRatio?: number;
  /** With `slowRatio`: above 0 ms. */
  slowMs?: number;
  /** The ratios say nothing of fewer calls in the window; default 10. */
  minimumCalls?: number;
  /** Opens with so many failed calls in the window. */
  failures?: number;
  /** For how long it stays open, 1 ms to 1 day; default 30 s. */
  cooldown?: Duration;
  /** Calls that must go well to close it; no more are let through until then. 1 to 100, default 1. */
  probes?: number;
  /** A probe that has not ended after so long is given up, and another call may probe; 1 ms to 1 day, default 30 s. */
  lease?: Duration;
  /** A process hands in what it has gathered with its first call after so long; 1 ms to 10 s, default 100 ms. */
  flush?: Duration;
  /** Which rejections count as failures; default all. */
  isFailure?: (error: unknown) => boolean;
  /** Ms that never step back, of calls and, without a store, of windows. Default: the store's, else `performance.now` and what was slept. */
  monotonic?: Clock;
}

export interface BreakerSettings {
  rule: Rule;
  /** Infinity where slow calls are not counted. */
  slowMs: number;
  flushMs: number;
  isFailure: (error: unknown) => boolean;
}

const KNOWN = [
  ...["name", "span", "failureRatio", "slowRatio", "slowMs", "minimumCalls", "failures"],
  ...["cooldown", "probes", "lease", "flush", "isFailure", "monotonic"],
];
const DAY_MS = 86_400_000;
const MOST_CALLS = 2 ** 31 - 1;
const MOST_PROBES = 100;
const LONGEST_FLUSH_MS = 10_000;

export function breakerSettings(options: BreakerOptions): BreakerSettings {
  checkKnown(options, KNOWN);
  const { failureRatio, slowRatio, slowMs, failures, isFailure = () => true, monotonic } = options;
  if (failureRatio === undefined && slowRatio === undefined && failures === undefined)
    throw argumentError("options", options, "with failureRatio, failures, or slowRatio and slowMs");
  if ((slowRatio === undefined) !== (slowMs === undefined))
    throw argumentError("slowMs", slowMs, "given with slowRatio, and only with it");
  if (slowMs !== undefined && !(typeof slowMs === "number" && slowMs > 0 && slowMs <= DAY_MS))
    throw argumentError("slowMs", slowMs, `a number above 0 ms, at most ${DAY_MS} ms`);
  for (const [name, given] of Object.entries({ isFailure, monotonic }))
    if (given !== undefined && typeof given !== "function") throw argumentError(name, given, "a function");
  return { rule: ruleOf(options), slowMs: slowMs ?? Infinity, flushMs: flushMsOf(options), isFailure };
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
