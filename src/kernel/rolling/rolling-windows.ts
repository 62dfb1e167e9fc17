import { argumentError } from "../../errors.ts";
import type { Times } from "../contract.ts";

const MOST_MS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * ARGUMENT, naming the index, where event `wrong` is before `to`: its time falls or is not finite; or where i64 times
 * up to there spread over 2^53 ms, beyond which f64 would round them.
 */
export function checkTimes(times: Times, wrong: number, to: number): void {
  const last = Math.min(wrong, to) - 1;
  if (times instanceof BigInt64Array && last >= 0 && times[last]! - times[0]! > MOST_MS) {
    const far = times.findIndex((time) => time - times[0]! > MOST_MS);
    throw argumentError(`times[${far}]`, times[far]!, `at most 2^53 - 1 ms after the first, ${times[0]!} ms`);
  }
  if (wrong === to) return;
  const argument = `times[${wrong}]`;
  const [now, before] = [times[wrong]!, times[wrong - 1]];
  if (typeof now === "number" && !Number.isFinite(now)) throw argumentError(argument, now, "a finite number of ms");
  throw argumentError(argument, now, `at least ${before} ms, the time before it: times never fall`);
}
