import { argumentError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { decisionOf } from "./answer.ts";
import { MODE, STATUS } from "./ask.ts";
import { ruleOf } from "./asker.ts";
import { decideFor } from "./decide.ts";
import type { Decision } from "./decision.ts";
import { HOLDS_ENDING, policyEndings } from "./keys.ts";
import type { Policy } from "./policies.ts";
import { newToken } from "./token.ts";

/** One limiter and id of several that are asked at once. */
export interface Part {
  limiterName: string;
  store: Store;
  base: string;
  policies: readonly Policy[];
  cost: number;
}

/** One step over the policies of all of them, in their order; the decision names the limiter before the policy. */
export async function takeAll(parts: readonly Part[]): Promise<Decision> {
  const [{ store }] = parts;
  if (parts.some((part) => part.store !== store)) throw argumentError("wanted", parts, "limiters of one store");
  if (new Set(parts.map(({ base }) => base)).size < parts.length)
    throw argumentError("wanted", parts, "each limiter and id once");

  const policies = parts.flatMap(({ limiterName, policies }) =>
    policies.map((policy) => ({ ...policy, name: `${limiterName}:${policy.name}` })),
  );
  const costs = parts.flatMap(({ policies, cost }) => policies.map(() => cost));
  const policyKeys = parts.flatMap(({ base, policies }) => policyEndings(policies).map((ending) => base + ending));
  const token = newToken();
  const ask = {
    mode: MODE.take,
    calls: 1,
    isPartial: false,
    amount: 0,
    token,
    rules: policies.map((policy, i) => ruleOf(policy, costs[i])),
    isHead: parts.flatMap(({ policies }) => policies.map((_, i) => i === 0)),
    hasHolds: false,
    hasRequest: false,
  };
  const run = (endings: readonly string[], hasHolds: boolean) =>
    store.run(decideFor(policies.length, endings.length, false), "", { ...ask, endings, hasHolds });
  let reply = await run(policyKeys, false);
  if (reply.status === STATUS.holdsNeeded)
    reply = await run([...policyKeys, ...parts.map(({ base }) => base + HOLDS_ENDING)], true);
  return decisionOf(reply, policies, costs, 0, token);
}
