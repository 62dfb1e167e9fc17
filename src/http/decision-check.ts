import { argumentError } from "../errors.ts";
import type { Decision } from "../limiter/decision.ts";

/** Throws ARGUMENT unless the value is a decision of a limiter. */
export function checkDecision(decision: Decision): void {
  const { policies, retryAfterMs, allowed } = (decision ?? {}) as Partial<Decision>;
  const isOne = Array.isArray(policies) && policies.every((policy) => typeof policy?.name === "string");
  if (!isOne || typeof retryAfterMs !== "number" || typeof allowed !== "boolean")
    throw argumentError("decision", decision, "a decision of a Limiter");
}
