import { argumentError } from "../../../base/errors.ts";
import type { Store } from "../../../store/contract.ts";
import type { OnStoreError } from "../options.ts";
import { type Costs, costAt, type Policy } from "../policies.ts";
import { type DecideReply, decideFor, policySuffixes, RESERVATIONS_SUFFIX } from "../steps/decide.ts";
import { type Fallback, isRepeatable, needsMemory, ruleOf, untilDecided } from "./decision-client.ts";

/** Each policy is a key of one script call. Some servers take at most 3999 arguments. */
const MAX_POLICIES_TOGETHER = 3000;

/** One limiter and id of a step over several. */
export interface Part {
  limiter: { readonly name: string };
  store: Store;
  fallback: Fallback;
  keyPrefix: string;
  policies: readonly Policy[];
  cost: Costs;
}

/** The work of a step on its parts. `layouts/limiter.mjs` has the modes. */
export interface Asking {
  mode: number;
  token: string;
  /** The lease of a reservation, ms. */
  amount?: number;
  isChargedAtEnd?: boolean;
  hasReservations?: boolean;
  /** Charges a reservation on a full server. */
  isFull?: boolean;
  signal?: AbortSignal | undefined;
}

/** Throws ARGUMENT unless one step can reach all parts. */
export function checkParts(parts: readonly Part[]): void {
  const { store } = parts[0]!;
  if (parts.some((part) => part.store !== store)) throw argumentError("requests", parts, "limiters of one store");
  if (new Set(parts.map(({ keyPrefix }) => keyPrefix)).size < parts.length)
    throw argumentError("requests", parts, "each limiter and id once");
  if (policiesOf(parts).length > MAX_POLICIES_TOGETHER)
    throw argumentError("requests", parts, `limiters with at most ${MAX_POLICIES_TOGETHER} policies together`);
}

/** Runs one step over the policies of all parts, in order, which cost `costs`. */
export async function askTogether(
  store: Store,
  parts: readonly Part[],
  costs: readonly number[],
  { mode, token, amount = 0, isChargedAtEnd = false, signal, ...asking }: Asking,
): Promise<DecideReply> {
  const policies = parts.flatMap((part) => part.policies);
  const policyKeys = parts.flatMap(({ keyPrefix, policies }) =>
    policySuffixes(policies).map((suffix) => keyPrefix + suffix),
  );
  const allKeys = [...policyKeys, ...parts.map(({ keyPrefix }) => keyPrefix + RESERVATIONS_SUFFIX)];
  const isHead = parts.flatMap(({ policies }) => policies.map((_, i) => i === 0));
  const ask = { mode, calls: 1, isPartial: false, amount, token, isChargedAtEnd, isHead, hasRequest: false };
  const grows = needsMemory(mode, costs, amount) && !asking.isFull;
  let hasReservations = asking.hasReservations ?? false;
  const run = () => {
    const keySuffixes = hasReservations ? allKeys : policyKeys;
    const rules = policies.map((policy, i) => ruleOf(policy, costs[i]!));
    const operation = decideFor(policies.length, keySuffixes.length, isRepeatable(mode), grows);
    return store.run(operation, "", { ...ask, rules, keySuffixes, hasReservations }, signal && { signal });
  };
  return untilDecided(policies, await run(), (lacksReservations) => {
    hasReservations ||= lacksReservations;
    return run();
  });
}

/** The strictest `onStoreError` of all parts, and a part that has it. */
export function strictestOf(parts: readonly Part[]): [OnStoreError, Part] {
  const isLocal = ({ fallback }: Part) => typeof fallback.onStoreError !== "string";
  const having = (one: OnStoreError) => parts.find(({ fallback }) => fallback.onStoreError === one);
  const part = having("throw") ?? having("deny") ?? parts.find(isLocal) ?? parts[0]!;
  return [part.fallback.onStoreError, part];
}

/** The parts with this process's shares of the limits, for a decision without the store. */
export function withShares<One extends Part>(parts: readonly One[]): One[] {
  return parts.map((part) => ({ ...part, policies: part.fallback.share?.of(part.policies) ?? part.policies }));
}

/** The policies of all parts, in order. Each name begins with the limiter's. */
export function policiesOf(parts: readonly Part[]): Policy[] {
  return parts.flatMap(({ limiter, policies }) =>
    policies.map((policy) => ({ ...policy, name: `${limiter.name}:${policy.name}` })),
  );
}

export function costsOfParts(parts: readonly Part[]): number[] {
  return parts.flatMap(({ policies, cost }) => policies.map((_, i) => costAt(cost, i)));
}
