import type { Decision, PolicyDecision } from "../../src/limits/limiter/decision.ts";

/** A policy's word: 10 per minute, 3 taken, 20 s until all is there again. */
export function policyOf(change: Partial<PolicyDecision> = {}): PolicyDecision {
  const base = {
    name: "burst",
    kind: "sliding-window",
    allowed: true,
    shadow: false,
    limit: 10,
    spanMs: 60_000,
    remaining: 7,
  } as const;
  return { ...base, retryAfterMs: 0, resetAfterMs: 20_000, ...change };
}

/** The decision that such policies make. */
export function decisionFrom(policies: PolicyDecision[], change: Partial<Decision> = {}): Decision {
  const real = policies.filter((policy) => !policy.shadow);
  const allowed = real.every((policy) => policy.allowed);
  const named = real.find((policy) => !policy.allowed) ?? real[0];
  return {
    allowed,
    granted: allowed ? 1 : 0,
    degraded: false,
    policy: named?.name ?? "",
    limit: named?.limit ?? 0,
    remaining: named?.remaining ?? 0,
    retryAfterMs: Math.max(0, ...real.map((policy) => policy.retryAfterMs)),
    resetAfterMs: Math.max(0, ...real.map((policy) => policy.resetAfterMs)),
    policies,
    ...change,
  };
}
