import type { Decision, PolicyDecision } from "../decision.ts";
import { lends, type Policy } from "../policies.ts";
import type { Reply } from "./ask.ts";
import { KIND } from "./rule.ts";

/**
 * The decision of the `place`-th of the calls that were asked for together, as if it had been asked for after the others
 * before it. `cost`: of each call, one for all policies or one for each.
 */
export function decisionOf(
  reply: Reply,
  policies: readonly Policy[],
  cost: number | readonly number[],
  place: number,
  permit?: string,
): Decision {
  const allowed = place < reply.granted;
  const told: PolicyDecision[] = [];
  let refused: PolicyDecision | undefined;
  let tightest: PolicyDecision | undefined;
  let resetAfterMs = 0;
  for (let i = 0; i < policies.length; i++) {
    const { name, kindName, limit, spanMs, isShadow } = policies[i];
    const { passes, waitMs } = reply.policies[i];
    const isPassed = allowed ? place < passes : passes > reply.granted;
    const one: PolicyDecision = {
      name,
      kind: kindName,
      allowed: isPassed,
      shadow: isShadow,
      limit,
      spanMs,
      remaining: 0,
      retryAfterMs: isPassed ? 0 : waitMs,
      resetAfterMs: 0,
    };
    stand(one, reply, policies[i], i, typeof cost === "number" ? cost : cost[i], place);
    told.push(one);
    resetAfterMs = Math.max(resetAfterMs, one.resetAfterMs);
    if (isShadow) continue;
    if (!isPassed && (!refused || one.retryAfterMs > refused.retryAfterMs)) refused = one;
    if (!tightest || one.remaining < tightest.remaining) tightest = one;
  }
  const named = refused ?? tightest ?? told[0];
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
    policies: told,
  };
  if (permit !== undefined && allowed && lends(policies)) decision.permit = permit;
  return decision;
}

/** What is left after the call itself, where others passed behind it. */
function stand(one: PolicyDecision, reply: Reply, policy: Policy, i: number, cost: number, place: number): void {
  const { passes, used, held, resetMs } = reply.policies[i];
  const behind = Math.max(0, Math.min(reply.granted, passes) - place - 1) * cost;
  if (policy.kind !== KIND.leaky) {
    one.remaining = Math.max(0, policy.limit - used - held + behind);
    one.resetAfterMs = resetMs;
    return;
  }
  const level = used - behind * policy.spanMs;
  one.remaining = Math.max(0, Math.floor((policy.limit * policy.spanMs - level) / policy.spanMs) - held);
  one.resetAfterMs = behind === 0 ? resetMs : resetMs - Math.ceil(used / policy.rate) + Math.ceil(level / policy.rate);
}
