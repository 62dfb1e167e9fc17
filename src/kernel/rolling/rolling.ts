import { argumentError, checkKnown } from "../../errors.ts";
import { warnOfFractions } from "../../percent.ts";
import { placed } from "../../place.ts";
import { type Closed, type Duration, durationMs } from "../../time.ts";
import { activeKernel } from "../choose.ts";
import { checkAttached, columnOf, timesOf, type Values, type ValueType } from "../column.ts";
import { type NanPolicy, policyOf, withoutNan } from "../nan.ts";
import type { PercentileMethod } from "../percentile/percentile.ts";
import { Orders } from "./rolling-orders.ts";
import { rollPieces } from "./rolling-pieces.ts";

export interface RollingOptions {
  /** How far a window reaches back from its event. */
  span: Duration;
  /** From 0 to 100. */
  percentiles: readonly number[];
  /** Default "linear". */
  method?: PercentileMethod | undefined;
  /** What bytes hold; default "f32". Typed arrays say it themselves. */
  type?: ValueType | undefined;
  /** "right" (default): t - span < t'. "both": t - span <= t'. */
  closed?: Closed | undefined;
  /** Default "reject". "propagate": NaN as long as one is in the window. */
  nan?: NanPolicy | undefined;
}

/** Percentile by percentile, one answer for each event, in the order of the events. */
export type RollingPercentiles = Record<number, Float64Array>;

/**
 * At every event the exact percentiles of the window that ends there: of the events before it, and itself, whose time
 * is after its own less the span. Times never fall; of events at one time each sees those before it in the columns and
 * not those after it (as in pandas). Interpolation is the strict one of `kernel.percentile`.
 * No events: no answers. A window of nothing but ignored NaN: NaN.
 * Times are a BigInt64Array or bytes (i64), or a Float64Array, in ms. ARGUMENT where they fall (the index is named), are
 * not as many as the values, or spread over 2^53 ms; CORRUPT where bytes end within a value; TOO_LARGE where two windows
 * need more memory than a kernel may hold (some 50 million events).
 * Cost: one sort of 4/3 of the events, then a step or two an event and percentile, whatever the window.
 */
export function rollingPercentile(
  times: BigInt64Array | Float64Array | Uint8Array,
  values: Values,
  options: RollingOptions,
): RollingPercentiles {
  return placed("rollingPercentile", () => {
    checkKnown(options, ["span", "percentiles", "method", "type", "closed", "nan"]);
    const { span, percentiles, method = "linear", type, closed = "right", nan } = options;
    if (closed !== "right" && closed !== "both") throw argumentError("closed", closed, '"right" or "both"');
    const spanMs = durationMs("span", span);
    const policy = policyOf(nan);
    if (!Array.isArray(percentiles)) throw argumentError("percentiles", percentiles, "a list of numbers from 0 to 100");
    const percents = [...new Set<number>(percentiles)];
    const orders = percents.map((p) => new Orders(method, p));
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
