import { argumentError } from "../../base/errors.ts";
import { oneOf } from "../../base/options.ts";
import type { Column, Kernel } from "./contract.ts";

/** "reject": NaN throws ARGUMENT with its index. "ignore": NaN is skipped. "propagate": every answer is NaN. */
export type NanPolicy = "reject" | "ignore" | "propagate";

/** Throws ARGUMENT for any other value. */
export function policyOf(policy: NanPolicy = "reject"): NanPolicy {
  return oneOf("nan", policy, "reject", "ignore", "propagate");
}

/** The column without NaN; null if there is one and the policy is "propagate". Costs one pass if there is none. */
export function withoutNan(kernel: Kernel, argument: string, values: Column, policy: NanPolicy): Column | null {
  const { below, equal } = kernel.rank(values, Number.POSITIVE_INFINITY);
  if (below + equal === values.length) return values;
  if (policy === "propagate") return null;
  if (policy === "ignore") return values.filter((x) => !Number.isNaN(x));
  const index = values.findIndex((x) => Number.isNaN(x));
  throw argumentError(`${argument}[${index}]`, Number.NaN, 'a number (or choose { nan: "ignore" } or "propagate")');
}

/** Throws ARGUMENT unless the value is a number and, under "reject", finite in its stored type. */
export function checkValue(value: number, valueType: number, nan: NanPolicy, argument = "value"): void {
  if (typeof value !== "number") throw argumentError(argument, value, "a number");
  if (nan === "reject" && !Number.isFinite(valueType === 0 ? Math.fround(value) : value))
    throw argumentError(argument, value, valueType === 0 ? "finite, below 3.4e38 as a float32" : "finite");
}
