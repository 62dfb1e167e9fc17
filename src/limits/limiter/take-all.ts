import { argumentError, checkKnown } from "../../base/errors.ts";
import { settingsOf, text } from "../../base/options.ts";
import { Site } from "../../base/site.ts";
import { MODE } from "../../generated/layouts/limiter.ts";
import type { Store } from "../../store/contract.ts";
import { decisionOf, type Fallback, fixedDecision, ruleOf, untilDecided } from "./client/decision-client.ts";
import { type Cost, type Costs, costAt } from "./cost.ts";
import type { Decision } from "./decision.ts";
import type { OnStoreError } from "./options.ts";
import type { Policy } from "./policies.ts";
import { decideFor, policySuffixes, RESERVATIONS_SUFFIX } from "./steps/decide.ts";
import { newToken } from "./token.ts";

/** Each policy is a key of one script call. Some servers take at most 3999 arguments. */
const MAX_POLICIES_TOGETHER = 3000;

/** A request to one of several limiters. */
export interface TakeRequestOf<Limiter> {
  limiter: Limiter;
  id: string;
  /** Permits, or an object of them by policy; default 1. */
  cost?: Cost | undefined;
}

/** One limiter and id of a `takeAll`. */
export interface TakePart {
  limiter: { readonly name: string };
  /** Called with this limiter's part of the decision. One limiter has decided. */
  decided(decision: Decision, hasDecided: boolean): void;
  store: Store;
  fallback: Fallback;
  keyPrefix: string;
  policies: readonly Policy[];
  cost: Costs;
}

const REQUEST_OPTIONS = ["limiter", "id", "cost"];

/** Returns the tag. Throws ARGUMENT. */
export function checkTakeAll(requests: readonly unknown[], options: { tag: string }): string {
  const { tag } = settingsOf({ tag: [text] }, options);
  if (!Array.isArray(requests) || requests.length === 0)
    throw argumentError("requests", requests, "an array of one or more");
  for (const request of requests) if (request instanceof Object) checkKnown(request, REQUEST_OPTIONS, "a request");
  return tag;
}

/** The site of errors. It names each limiter once. */
export function siteOfParts(parts: readonly TakePart[]): Site {
  const names = new Set(parts.map(({ limiter }) => limiter.name));
  return new Site("Limiter", [...names].join(", "), parts[0]!.store);
}

/** Takes from all parts or from none. If the store is unreachable, the strictest `onStoreError` of the limiters decides. */
export async function takeAll(parts: readonly TakePart[]): Promise<Decision> {
  return toldTo(parts, await decideTogether(parts));
}

async function decideTogether(parts: readonly TakePart[]): Promise<Decision> {
  const { store } = parts[0]!;
  if (parts.some((part) => part.store !== store)) throw argumentError("requests", parts, "limiters of one store");
  if (new Set(parts.map(({ keyPrefix }) => keyPrefix)).size < parts.length)
    throw argumentError("requests", parts, "each limiter and id once");
  if (policiesOf(parts).length > MAX_POLICIES_TOGETHER)
    throw argumentError("requests", parts, `limiters with at most ${MAX_POLICIES_TOGETHER} policies together`);
  try {
    return await takeFrom(store, parts);
  } catch (error) {
    const strictest = strictestOf(parts);
    const decider = parts.find(({ fallback }) => fallback.onStoreError === strictest)!;
    if (!decider.fallback.decidesAfter(error) || strictest === "throw") throw error;
    if (typeof strictest === "string") return fixedDecision(policiesOf(parts), costsOfParts(parts), strictest);
    const shares = parts.map((part) => ({
      ...part,
      policies: part.fallback.share?.of(part.policies) ?? part.policies,
    }));
    return decider.fallback.share!.marked(await takeFrom(strictest.storeFor(store), shares));
  }
}

function strictestOf(parts: readonly TakePart[]): OnStoreError {
  const all = parts.map(({ fallback }) => fallback.onStoreError);
  return (["throw", "deny"] as const).find((one) => all.includes(one)) ?? all.find((one) => one !== "allow") ?? "allow";
}

/** Runs one step over the policies of all parts, in order. */
async function takeFrom(store: Store, parts: readonly TakePart[]): Promise<Decision> {
  const policies = policiesOf(parts);
  const costs = costsOfParts(parts);
  const policyKeys = parts.flatMap(({ keyPrefix, policies }) =>
    policySuffixes(policies).map((suffix) => keyPrefix + suffix),
  );
  const token = newToken();
  const ask = {
    mode: MODE.take,
    calls: 1,
    isPartial: false,
    amount: 0,
    token,
    isHead: parts.flatMap(({ policies }) => policies.map((_, i) => i === 0)),
    hasRequest: false,
  };
  let keys = policyKeys;
  const run = () => {
    const rules = policies.map((policy, i) => ruleOf(policy, costs[i]!));
    const hasReservations = keys !== policyKeys;
    const operation = decideFor(policies.length, keys.length, false);
    return store.run(operation, "", { ...ask, rules, keySuffixes: keys, hasReservations });
  };
  const reply = await untilDecided(policies, await run(), (lacksReservations) => {
    if (lacksReservations) keys = [...policyKeys, ...parts.map(({ keyPrefix }) => keyPrefix + RESERVATIONS_SUFFIX)];
    return run();
  });
  return decisionOf(reply, policies, costs, 0, token);
}

function costsOfParts(parts: readonly TakePart[]): number[] {
  return parts.flatMap(({ policies, cost }) => policies.map((_, i) => costAt(cost, i)));
}

/** Prefixes each policy's name with the limiter's. */
function policiesOf(parts: readonly TakePart[]): Policy[] {
  return parts.flatMap(({ limiter, policies }) =>
    policies.map((policy) => ({ ...policy, name: `${limiter.name}:${policy.name}` })),
  );
}

/** Returns the decision, after each limiter was passed its part. One of them decided. A block counts as the first one's. */
function toldTo(parts: readonly TakePart[], decision: Decision): Decision {
  const isOf = ({ limiter, policies }: TakePart) =>
    policies.some(({ name }) => `${limiter.name}:${name}` === decision.policy);
  const decider = parts.find(isOf) ?? parts[0]!;
  let from = 0;
  for (const part of parts) {
    const { limiter, policies } = part;
    const own = decision.policies.slice(from, from + policies.length);
    const ownName = (name: string) =>
      name.startsWith(`${limiter.name}:`) ? name.slice(limiter.name.length + 1) : name;
    const policy = ownName(decision.policy);
    const seen = { ...decision, policy, policies: own.map((each) => ({ ...each, name: ownName(each.name) })) };
    part.decided(seen, part === decider);
    from += policies.length;
  }
  return decision;
}
