// What every runtime runs of oriel/kernel.
import { kernel, rollingPercentile } from "oriel/kernel";
import { Checks } from "./checks.mjs";
import { checkGolden } from "./golden-checks.mjs";

export async function run() {
  const checks = new Checks();
  checkGolden(checks, kernel);
  const times = BigInt64Array.of(0n, 1n, 2n, 3n);
  const rolled = rollingPercentile(times, Float64Array.of(4, 7, 13, 16), { span: 2, percentiles: [50] });
  checks.same("rolling medians", rolled, { 50: Float64Array.of(4, 5.5, 10, 14.5) });
  return checks.report(kernel.name);
}
