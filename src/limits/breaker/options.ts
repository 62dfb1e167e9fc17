import { argumentError, OrielError, wholeNumber } from "../../base/errors.ts";
import { type Announced, fn, given, numberFrom, type Schema, type SettingsOf, settingsOf } from "../../base/options.ts";
import { type Clock, type Duration, durationMs } from "../../base/time.ts";
import { type Rule, tickMsOf } from "./rule.ts";

/** A cooldown that grows with each probe that fails, until the circuit closes. */
export interface BreakerCooldown {
  /** The first one, 1 ms to 1 day. */
  first: Duration;
  /** Each one is `factor` times as long as the one before, 1 to 10; default 2. */
  factor?: number | undefined;
  /** No one is longer, `first` to 1 day; default 10 times `first`. */
  longest?: Duration | undefined;
  /** Each one is shorter by at most this share, 0 to 1; default 0.1. So circuits that opened together do not probe together. */
  jitter?: number | undefined;
}

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
  /**
   * The share of processes from which on a shared circuit opens for all, 0 to 1; default none: the calls of all processes are
   * one sum. A process sees failures if its own calls meet a condition. The circuit opens when the share of such processes is larger
   * than this, of those that called within the span. 1: when all do. A process whose own calls alone meet the rule opens for itself. Half-open, the share of failed probes decides.
   */
  quorum?: number | undefined;
  /** Time that the circuit stays open, 1 ms to 1 day; default 30 s. Or how it grows with each failed probe. */
  cooldown?: Duration | BreakerCooldown | undefined;
  /** Calls that must succeed to close a half-open circuit; with `quorum`, enough of them. No more pass until then. 1 to 100, default 1. */
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

const DAY_MS = 86_400_000;
const MAX_CALLS = 2 ** 31 - 1;
const MAX_PROBES = 100;
const MAX_FLUSH_MS = 10_000;
const WEEK_MS = 7 * DAY_MS;
const MAX_FACTOR = 10;
const LONGEST_TIMES = 10;
const RATIO = [ratioOf, Number.POSITIVE_INFINITY] as const;

const COOLDOWN = {
  first: [durationMs, undefined, 1, DAY_MS],
  factor: [numberFrom, 2, 1, MAX_FACTOR],
  longest: [durationMs, null, 1, DAY_MS],
  jitter: [numberFrom, 0.1, 0, 1],
} as const satisfies Schema<BreakerCooldown>;

/** Options of `Breaker.open` and `Breaker.close`. */
export interface BreakerOrderOptions {
  /** How long the order holds, 1 ms to 7 days. */
  for?: Duration | undefined;
}

/** 0: an order without an end of its own. */
export const ORDER = { for: [durationMs, 0, 1, WEEK_MS] } as const satisfies Schema<BreakerOrderOptions>;

/** Infinity: the condition or the bound is not set. */
export const BREAKER = {
  name: [given<string | undefined>],
  span: [durationMs, undefined, 1, DAY_MS],
  failureRatio: RATIO,
  slowRatio: RATIO,
  slowCall: [durationMs, Number.POSITIVE_INFINITY, 1, DAY_MS],
  minimumCalls: [wholeNumber, 10, 1, MAX_CALLS],
  failures: [wholeNumber, Number.POSITIVE_INFINITY, 1, MAX_CALLS],
  quorum: RATIO,
  cooldown: [cooldownOf, cooldownOf("cooldown", 30_000)],
  probes: [wholeNumber, 1, 1, MAX_PROBES],
  lease: [durationMs, 30_000, 1, DAY_MS],
  flush: [durationMs, 100, 1, MAX_FLUSH_MS],
  timeout: [durationMs, Number.POSITIVE_INFINITY, 1, DAY_MS],
  isFailure: [fn<(error: unknown) => boolean>, () => true],
  isIgnored: [fn<(error: unknown) => boolean>, isOpen],
  monotonic: [fn<Clock>, null],
} as const satisfies Schema<BreakerRules>;

export type BreakerSettings = SettingsOf<typeof BREAKER> & { rule: Rule };

export function breakerSettings(options: BreakerOptions): BreakerSettings {
  const settings = settingsOf(BREAKER, options);
  const { spanMs, failureRatio, slowRatio, slowCallMs, minimumCalls, failures, quorum, flushMs } = settings;
  if (Math.min(failureRatio, slowRatio, failures) === Number.POSITIVE_INFINITY)
    throw new OrielError(
      "ARGUMENT",
      "the options name no condition; one of failureRatio, failures, or slowRatio with slowCall is required",
    );
  if (Number.isFinite(slowRatio) !== Number.isFinite(slowCallMs))
    throw argumentError("slowCall", options.slowCall, "given with slowRatio, and only with it");
  // A process that reports more seldom would be missing among those that called lately.
  if (Number.isFinite(quorum) && flushMs > spanMs / 2)
    throw argumentError("flush", options.flush ?? flushMs, `at most half of span with quorum, ${spanMs / 2} ms`);
  const tickMs = tickMsOf(spanMs);
  const wholeMs = Math.ceil(spanMs / tickMs) * tickMs;
  const { cooldown, probes, leaseMs } = settings;
  const conditions = { minimumCalls, failureRatio, slowRatio, failures, quorum };
  return { ...settings, rule: { spanMs: wholeMs, tickMs, ...conditions, ...cooldown, probes, leaseMs } };
}

/** The settings that all processes of a circuit share, as options. Conditions that are not set are left out. */
export function sharedSettings({ rule, slowCallMs }: BreakerSettings): Readonly<Record<string, unknown>> {
  const { spanMs, failureRatio, slowRatio, minimumCalls, failures, quorum, probes, leaseMs } = rule;
  const { cooldownMs: first, factor, longestMs: longest, jitter } = rule;
  const cooldown = factor === 1 && jitter === 0 ? first : { first, factor, longest, jitter };
  const shared = {
    ...{ span: spanMs, cooldown, lease: leaseMs },
    ...{ failureRatio, slowRatio, slowCall: slowCallMs, minimumCalls, failures, quorum, probes },
  } satisfies Announced<typeof BREAKER, "name" | "flush" | "timeout" | "isFailure" | "isIgnored" | "monotonic">;
  return Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== Number.POSITIVE_INFINITY));
}

/** A cooldown as a length, which does not grow, or as an object. */
function cooldownOf(
  argument: string,
  value: Duration | BreakerCooldown,
): Pick<Rule, "cooldownMs" | "factor" | "longestMs" | "jitter"> {
  if (typeof value !== "object") {
    const cooldownMs = durationMs(argument, value, 1, DAY_MS);
    return { cooldownMs, factor: 1, longestMs: cooldownMs, jitter: 0 };
  }
  const { firstMs, factor, longestMs, jitter } = settingsOf(COOLDOWN, value, argument);
  if (longestMs !== null && longestMs < firstMs)
    throw argumentError(`${argument}.longest`, value.longest, `at least ${argument}.first, ${firstMs} ms`);
  return { cooldownMs: firstMs, factor, longestMs: longestMs ?? Math.min(DAY_MS, LONGEST_TIMES * firstMs), jitter };
}

function isOpen(error: unknown): boolean {
  return error instanceof OrielError && error.code === "OPEN";
}

function ratioOf(argument: string, ratio: number): number {
  if (typeof ratio !== "number" || !(ratio >= 0 && ratio <= 1)) throw argumentError(argument, ratio, "from 0 to 1");
  return ratio;
}
