import { argumentError } from "../base/errors.ts";
import type { Decision } from "../limits/limiter/decision.ts";

/** Throws ARGUMENT unless the value is a decision of a limiter. */
export function checkDecision(decision: Decision): void {
  const { policies, retryAfterMs, allowed } = (decision ?? {}) as Partial<Decision>;
  const isOne = Array.isArray(policies) && policies.every((policy) => typeof policy?.name === "string");
  if (!isOne || typeof retryAfterMs !== "number" || typeof allowed !== "boolean")
    throw argumentError("decision", decision, "a decision of a Limiter");
}

/** Whether the id of a denied call is blocked. Then no permit is available, whatever its policies allow. */
export function isBlocked({ allowed, policy, policies }: Decision): boolean {
  const violated = policies.filter((each) => !each.shadow && !each.allowed);
  // A policy may have the name "block" too.
  return !allowed && (violated.length === 0 || (policy === "block" && violated.every(({ name }) => name !== "block")));
}
