import { argumentError, checkKnown } from "../../../base/errors.ts";
import { oneOf } from "../../../base/options.ts";
import { warnOfFractions } from "../../../base/percent.ts";
import { atSite } from "../../../base/site.ts";
import { type Closed, type Duration, durationMs } from "../../../base/time.ts";
import { activeKernel } from "../choose.ts";
import { checkAttached, columnOf, timesOf, type Values, type ValueType } from "../column.ts";
import { type NanPolicy, policyOf, withoutNan } from "../nan.ts";
import type { PercentileMethod } from "../percentile/percentile.ts";
import { RankTables } from "./rank-tables.ts";
import { rollPieces } from "./rolling-pieces.ts";

/** Options of `rollingPercentile`: the window of each event, and its percentiles. */
export interface RollingOptions {
  /** Length of each window. It ends at its event. */
  span: Duration;
  /** From 0 to 100. */
  percentiles: readonly number[];
  /** Default "linear". */
  method?: PercentileMethod | undefined;
  /** Type of the values in raw bytes; default "f32". A typed array has its own type. */
  type?: ValueType | undefined;
  /** "right" (default): t - span < t'. "both": t - span <= t'. */
  closed?: Closed | undefined;
  /** Default "reject". With "propagate", the answer is NaN while a NaN is in the window. */
  nan?: NanPolicy | undefined;
}

/** One column per percentile, keyed by it, with one answer per event. */
export type RollingPercentiles = Record<number, Float64Array>;

/**
 * Returns exact percentiles of a rolling window: one answer per event, over the window that ends at the event.
 * Times are in ms: a BigInt64Array, a Float64Array, or i64 bytes. They must not decrease. Events with equal times count
 * in the order of the columns, as in pandas. Interpolation is the strict one of `kernel.percentile`. A window with only
 * ignored NaN gives NaN.
 * Throws ARGUMENT, with the index, for a time that decreases, and for times that spread over more than 2^53 ms or differ
 * in number from the values. Throws CORRUPT for truncated bytes. Throws TOO_LARGE if two windows need more memory than a
 * kernel may use (about 50 million events).
 * Cost: one sort of 4/3 of the events, then one or two steps per event and percentile, whatever the window.
 */
export function rollingPercentile(
  times: BigInt64Array | Float64Array | Uint8Array,
  values: Values,
  options: RollingOptions,
): RollingPercentiles {
  return atSite("rollingPercentile", () => {
    checkKnown(options, ["span", "percentiles", "method", "type", "closed", "nan"]);
    const { span, percentiles, method = "linear", type, closed = "right", nan } = options;
    oneOf("closed", closed, "right", "both");
    const spanMs = durationMs("span", span);
    const policy = policyOf(nan);
    if (!Array.isArray(percentiles)) throw argumentError("percentiles", percentiles, "a list of numbers from 0 to 100");
    const percents = [...new Set<number>(percentiles)];
    const orders = percents.map((p) => new RankTables(method, p));
    warnOfFractions(percents);
    checkAttached("times", times);
    const instants = times instanceof Float64Array ? times : timesOf("times", times);
    const column = columnOf("values", values, type);
    if (instants.length !== column.length)
      throw argumentError("values.length", column.length, `${instants.length}, the number of times`);
    const kernel = activeKernel();
    const whole = withoutNan(kernel, "values", column, policy === "reject" ? policy : "propagate") !== null;
    const rule = whole || policy === "reject" ? "none" : policy;
    const windows = { times: instants, spanMs, both: closed === "both" };
    const answers = rollPieces(kernel, column, windows, orders, rule);
    return Object.fromEntries(percents.map((p, i) => [p, answers[i]!]));
  });
}
