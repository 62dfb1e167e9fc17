import { argumentError } from "../../../base/errors.ts";
import type { Times } from "../contract.ts";

const MAX_SPREAD_MS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Throws ARGUMENT, with the index, if `wrong` is below `to`: the time of that event decreases or is not finite. Also if
 * i64 times up to that event spread over more than 2^53 ms, which f64 would round.
 */
export function checkTimes(times: Times, wrong: number, to: number): void {
  const last = Math.min(wrong, to) - 1;
  if (times instanceof BigInt64Array && last >= 0 && times[last]! - times[0]! > MAX_SPREAD_MS) {
    const far = times.findIndex((time) => time - times[0]! > MAX_SPREAD_MS);
    throw argumentError(`times[${far}]`, times[far]!, `at most 2^53 - 1 ms after the first, ${times[0]!} ms`);
  }
  if (wrong === to) return;
  const argument = `times[${wrong}]`;
  const [now, before] = [times[wrong]!, times[wrong - 1]];
  if (typeof now === "number" && !Number.isFinite(now)) throw argumentError(argument, now, "a finite number of ms");
  throw argumentError(argument, now, `at least ${before} ms, the time before it: times must not decrease`);
}
