import { argumentError, checkKnown } from "../errors.ts";
import { Place } from "../place.ts";
import type { Store } from "../store/contract.ts";
import { ruleOf } from "./client/asker.ts";
import { isAway } from "./client/away.ts";
import { blind, type Fallback } from "./client/fallback.ts";
import { decidedLocally, localOf } from "./client/local.ts";
import type { Decision } from "./decision.ts";
import { HOLDS_ENDING, policyEndings } from "./keys.ts";
import type { Policy } from "./policies.ts";
import { decisionOf } from "./steps/answer.ts";
import { MODE, STATUS } from "./steps/ask.ts";
import { decideFor } from "./steps/decide.ts";
import { newToken } from "./token.ts";

/** What a caller wants of one of several limiters. */
export interface WantedOf<Limiter> {
  limiter: Limiter;
  id: string;
  /** Permits; default 1. */
  cost?: number;
}

/** One limiter and id of several that are asked at once. */
export interface Part {
  limiterName: string;
  store: Store;
  fallback: Fallback;
  base: string;
  policies: readonly Policy[];
  cost: number;
}

/** The tag; throws ARGUMENT. */
export function checkWanted(wanted: readonly unknown[], options: { tag: string }): string {
  checkKnown(options, ["tag"]);
  if (!Array.isArray(wanted) || wanted.length === 0) throw argumentError("wanted", wanted, "an array of one or more");
  if (typeof options.tag !== "string") throw argumentError("tag", options.tag, "a string");
  return options.tag;
}

/** Names each limiter once. */
export function placeOfAll(parts: readonly Part[]): Place {
  const names = new Set(parts.map(({ limiterName }) => limiterName));
  return new Place("Limiter", [...names].join(", "), parts[0]!.store);
}

const STRICTEST_FIRST = ["throw", "deny", "local", "allow"] as const;

/** Takes from all parts or from none; where the store is out of reach, as the strictest of the limiters wishes. */
export async function takeAll(parts: readonly Part[]): Promise<Decision> {
  const [{ store }] = parts;
  if (parts.some((part) => part.store !== store)) throw argumentError("wanted", parts, "limiters of one store");
  if (new Set(parts.map(({ base }) => base)).size < parts.length)
    throw argumentError("wanted", parts, "each limiter and id once");
  try {
    return await takeFrom(store, parts);
  } catch (error) {
    const wished = STRICTEST_FIRST.find((one) => parts.some(({ fallback }) => fallback.onStoreError === one));
    if (!isAway(error) || wished === undefined || wished === "throw") throw error;
    if (wished !== "local") return blind(policiesOf(parts), parts[0].cost, wished);
    const shares = parts.map((part) => ({ ...part, policies: part.fallback.sharesOf(part.policies) }));
    return decidedLocally(await takeFrom(localOf(store), shares));
  }
}

/** One step over the policies of all of them, in their order. */
async function takeFrom(store: Store, parts: readonly Part[]): Promise<Decision> {
  const policies = policiesOf(parts);
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

/** Their names begin with the limiter's. */
function policiesOf(parts: readonly Part[]): Policy[] {
  return parts.flatMap(({ limiterName, policies }) =>
    policies.map((policy) => ({ ...policy, name: `${limiterName}:${policy.name}` })),
  );
}
