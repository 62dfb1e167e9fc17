import { argumentError } from "../errors.ts";
import type { Decision } from "../limiter/decision.ts";

/** Throws ARGUMENT for what no limiter has answered. */
export function checkDecision(decision: Decision): void {
  const { policies, retryAfterMs, allowed } = (decision ?? {}) as Partial<Decision>;
  const isOne = Array.isArray(policies) && policies.every((policy) => typeof policy?.name === "string");
  if (!isOne || typeof retryAfterMs !== "number" || typeof allowed !== "boolean")
    throw argumentError("decision", decision, "what a Limiter has answered");
}
