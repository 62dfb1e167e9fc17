import { argumentError, checkKnown, OrielError, wholeNumber } from "../../base/errors.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import { type Rule, tickMsOf } from "./rule.ts";

/** When a circuit opens, how long it stays open, and when it closes. At least one condition is required. */
export interface BreakerRules {
  /** Breakers with one name and span share one circuit on a store. Required with a store. */
  name?: string | undefined;
  /** The sliding window, 1 ms to 1 day. It moves by 1 ms up to 2 minutes; above, by 1/60 000 of it, rounded down to 2, 5, 10, ... ms. */
  span: Duration;
  /** Opens when the share of failed calls is larger than this, from 0 to 1. 1: when all calls failed. */
  failureRatio?: number | undefined;
  /** Opens when the share of calls longer than `slowCall` is larger than this, from 0 to 1. 1: when all are. */
  slowRatio?: number | undefined;
  /** A call that lasts longer is slow; 1 ms to 1 day. Required with `slowRatio`. */
  slowCall?: Duration | undefined;
  /** With fewer calls in the window, the ratios do not apply; default 10. */
  minimumCalls?: number | undefined;
  /** Opens at this number of failed calls in the window. */
  failures?: number | undefined;
  /** Time that the circuit stays open, 1 ms to 1 day; default 30 s. */
  cooldown?: Duration | undefined;
  /** Calls that must succeed to close a half-open circuit. No more pass until then. 1 to 100, default 1. */
  probes?: number | undefined;
  /** A probe that lasts longer is given up, and another call may probe; 1 ms to 1 day, default 30 s. */
  lease?: Duration | undefined;
  /** A process reports to the store at most this often, during a call; 1 ms to 10 s, default 100 ms. */
  flush?: Duration | undefined;
  /** A call that lasts longer is aborted, rejects with DEADLINE and is a failure; 1 ms to 1 day, default none. */
  timeout?: Duration | undefined;
  /** Whether a rejection is a failure; default: always. If not, the call is a success. If this throws, it is a failure. */
  isFailure?: ((error: unknown) => boolean) | undefined;
  /**
   * Whether a rejection is ignored: neither a success nor a failure. An ignored probe lets another call probe. Checked before
   * `isFailure`. Default: OPEN of another breaker, which says nothing about the service. If this throws, it is a failure.
   */
  isIgnored?: ((error: unknown) => boolean) | undefined;
  /** A clock that never steps back, ms. Default: the store's; without one, `performance.now` plus the time that the machine slept. */
  monotonic?: Clock | undefined;
}

/** At least one condition is required: `failureRatio`, `failures`, or `slowRatio` with `slowCall`. */
export type BreakerOptions = BreakerRules &
  ({ failureRatio: number } | { failures: number } | { slowRatio: number; slowCall: Duration });

export interface BreakerSettings {
  rule: Rule;
  /** Infinity without a slow-call condition. */
  slowMs: number;
  flushMs: number;
  /** Infinity without a timeout. */
  timeoutMs: number;
  isFailure: (error: unknown) => boolean;
  isIgnored: (error: unknown) => boolean;
}

const KNOWN = [
  ...["name", "span", "failureRatio", "slowRatio", "slowCall", "minimumCalls", "failures"],
  ...["cooldown", "probes", "lease", "flush", "timeout", "isFailure", "isIgnored", "monotonic"],
];
const DAY_MS = 86_400_000;
const MAX_CALLS = 2 ** 31 - 1;
const MAX_PROBES = 100;
const MAX_FLUSH_MS = 10_000;

export function breakerSettings(options: BreakerOptions): BreakerSettings {
  checkKnown(options, KNOWN);
  const { failureRatio, slowRatio, slowCall, failures, timeout, monotonic } = options;
  const { isFailure = () => true, isIgnored = isOpen } = options;
  if (failureRatio === undefined && slowRatio === undefined && failures === undefined)
    throw new OrielError(
      "ARGUMENT",
      "the options name no condition; one of failureRatio, failures, or slowRatio with slowCall is required",
    );
  if ((slowRatio === undefined) !== (slowCall === undefined))
    throw argumentError("slowCall", slowCall, "given with slowRatio, and only with it");
  for (const [name, given] of Object.entries({ isFailure, isIgnored, monotonic }))
    if (given !== undefined && typeof given !== "function") throw argumentError(name, given, "a function");
  return {
    rule: ruleOf(options),
    slowMs: slowCall === undefined ? Number.POSITIVE_INFINITY : durationMs("slowCall", slowCall, 1, DAY_MS),
    flushMs: flushMsOf(options),
    timeoutMs: timeout === undefined ? Number.POSITIVE_INFINITY : durationMs("timeout", timeout, 1, DAY_MS),
    isFailure,
    isIgnored,
  };
}

/** The settings that all processes of a circuit share, as options. Conditions that are not set are left out. */
export function sharedSettings({ rule, slowMs }: BreakerSettings): Readonly<Record<string, number>> {
  const { spanMs, failureRatio, slowRatio, minimumCalls, failures, cooldownMs, probes, leaseMs } = rule;
  const rules = { failureRatio, slowRatio, slowCall: slowMs, minimumCalls, failures, probes };
  const set = Object.entries(rules).filter(([, value]) => Number.isFinite(value));
  return { span: spanMs, cooldown: cooldownMs, lease: leaseMs, ...Object.fromEntries(set) };
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
    minimumCalls: wholeNumber("minimumCalls", minimumCalls, 1, MAX_CALLS),
    failureRatio: ratioOf("failureRatio", options.failureRatio),
    slowRatio: ratioOf("slowRatio", options.slowRatio),
    failures: failures === undefined ? Number.POSITIVE_INFINITY : wholeNumber("failures", failures, 1, MAX_CALLS),
    cooldownMs: durationMs("cooldown", cooldown, 1, DAY_MS),
    probes: wholeNumber("probes", probes, 1, MAX_PROBES),
    leaseMs: durationMs("lease", lease, 1, DAY_MS),
  };
}

function flushMsOf({ flush = 100 }: BreakerOptions): number {
  return durationMs("flush", flush, 1, MAX_FLUSH_MS);
}

function ratioOf(argument: string, ratio: number | undefined): number {
  if (ratio === undefined) return Number.POSITIVE_INFINITY;
  if (typeof ratio !== "number" || !(ratio >= 0 && ratio <= 1)) throw argumentError(argument, ratio, "from 0 to 1");
  return ratio;
}
