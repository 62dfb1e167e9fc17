import { KIND } from "../../../generated/layouts/limiter.ts";
import type { Decision, PolicyDecision } from "../decision.ts";
import { hasConcurrency, type Policy, quotaMsOf } from "../policies.ts";
import type { DecideReply } from "./request.ts";

/**
 * The decision for call number `index` of a group, as if the calls had come one after the other. `cost`: the cost of each
 * call, one number for all policies or one for each.
 */
export function decisionOf(
  reply: DecideReply,
  policies: readonly Policy[],
  cost: number | readonly number[],
  index: number,
  permit?: string,
): Decision {
  const allowed = index < reply.granted;
  const decisions: PolicyDecision[] = [];
  let refused: PolicyDecision | undefined;
  let tightest: PolicyDecision | undefined;
  let resetAfterMs = 0;
  for (let i = 0; i < policies.length; i++) {
    const { name, kindName, limit, isShadow } = policies[i]!;
    const { passes, waitMs } = reply.policies[i]!;
    const isPassed = allowed ? index < passes : passes > reply.granted;
    const one: PolicyDecision = {
      name,
      kind: kindName,
      allowed: isPassed,
      shadow: isShadow,
      limit,
      spanMs: quotaMsOf(policies[i]!),
      remaining: 0,
      retryAfterMs: isPassed ? 0 : waitMs,
      resetAfterMs: 0,
    };
    setRemaining(one, reply, policies[i]!, i, typeof cost === "number" ? cost : cost[i]!, index);
    decisions.push(one);
    resetAfterMs = Math.max(resetAfterMs, one.resetAfterMs);
    if (isShadow) continue;
    if (!isPassed && (!refused || one.retryAfterMs > refused.retryAfterMs)) refused = one;
    if (!tightest || one.remaining < tightest.remaining) tightest = one;
  }
  const named = refused ?? tightest ?? decisions[0]!;
  const isBlocked = reply.blockedMs > 0;
  const decision: Decision = {
    allowed,
    granted: allowed ? reply.permits : 0,
    degraded: false,
    policy: isBlocked ? "block" : named.name,
    limit: named.limit,
    remaining: isBlocked ? 0 : named.remaining,
    retryAfterMs: allowed ? 0 : Math.max(reply.blockedMs, refused?.retryAfterMs ?? 0),
    resetAfterMs: Math.max(resetAfterMs, reply.blockedMs),
    policies: decisions,
  };
  if (permit !== undefined && allowed && hasConcurrency(policies)) decision.permit = permit;
  return decision;
}

/** Sets what was left just after this call, before the later calls of its group. */
function setRemaining(
  one: PolicyDecision,
  reply: DecideReply,
  policy: Policy,
  i: number,
  cost: number,
  index: number,
): void {
  const { passes, used, reserved, resetMs } = reply.policies[i]!;
  const later = Math.max(0, Math.min(reply.granted, passes) - index - 1) * cost;
  if (policy.kind !== KIND.leaky) {
    one.remaining = Math.max(0, policy.limit - used - reserved + later);
    one.resetAfterMs = resetMs;
    return;
  }
  const level = used - later * policy.spanMs;
  one.remaining = Math.max(0, Math.floor((policy.limit * policy.spanMs - level) / policy.spanMs) - reserved);
  one.resetAfterMs = later === 0 ? resetMs : resetMs - Math.ceil(used / policy.rate) + Math.ceil(level / policy.rate);
}
