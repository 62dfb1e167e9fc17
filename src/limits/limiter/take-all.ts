import { argumentError, checkKnown } from "../../base/errors.ts";
import { settingsOf, text } from "../../base/options.ts";
import { Site } from "../../base/site.ts";
import { MODE } from "../../generated/layouts/limiter.ts";
import type { Store } from "../../store/contract.ts";
import { decisionOf, fixedDecision } from "./client/decision-client.ts";
import {
  askTogether,
  checkParts,
  costsOfParts,
  type Part,
  policiesOf,
  strictestOf,
  withShares,
} from "./client/together.ts";
import type { Cost } from "./cost.ts";
import type { Decision } from "./decision.ts";
import { newToken } from "./token.ts";

/** A request to one of several limiters. */
export interface TakeRequestOf<Limiter> {
  limiter: Limiter;
  id: string;
  /** Permits, or an object of them by policy; default 1. */
  cost?: Cost | undefined;
}

/** One limiter and id of a `takeAll` or `reserveAll`, and its listeners. */
export interface TakePart extends Part {
  /** Called with this limiter's part of the decision. One limiter has decided. */
  decided(decision: Decision, hasDecided: boolean): void;
  reserved(isAllowed: boolean): void;
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
export function siteOfParts(parts: readonly Part[]): Site {
  const names = new Set(parts.map(({ limiter }) => limiter.name));
  return new Site("Limiter", [...names].join(", "), parts[0]!.store);
}

/** Takes from all parts or from none. If the store is unreachable, the strictest `onStoreError` of the limiters decides. */
export async function takeAll(parts: readonly TakePart[]): Promise<Decision> {
  return toldTo(parts, await decideTogether(parts));
}

async function decideTogether(parts: readonly TakePart[]): Promise<Decision> {
  checkParts(parts);
  const { store } = parts[0]!;
  try {
    return await takeFrom(store, parts);
  } catch (error) {
    const [strictest, decider] = strictestOf(parts);
    if (!decider.fallback.decidesAfter(error) || strictest === "throw") throw error;
    if (typeof strictest === "string") return fixedDecision(policiesOf(parts), costsOfParts(parts), strictest);
    return decider.fallback.share!.marked(await takeFrom(strictest.storeFor(store), withShares(parts)));
  }
}

async function takeFrom(store: Store, parts: readonly TakePart[]): Promise<Decision> {
  const [costs, token] = [costsOfParts(parts), newToken()];
  return decisionOf(
    await askTogether(store, parts, costs, { mode: MODE.take, token }),
    policiesOf(parts),
    costs,
    0,
    token,
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
