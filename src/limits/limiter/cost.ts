import { didYouMean } from "../../base/did-you-mean.ts";
import { argumentError } from "../../base/errors.ts";
import type { Costs, Policy } from "./policies.ts";

/** Permits: one number for every policy, or numbers by the names of policies. */
export type Cost = number | { readonly [policy: string]: number };

const MAX_COST = 2 ** 31 - 1;

export function costOf(cost: number, argument = "cost"): number {
  if (!Number.isSafeInteger(cost) || cost < 0 || cost > MAX_COST)
    throw argumentError(argument, cost, `an integer number of permits from 0 to ${MAX_COST}`);
  return cost;
}

/**
 * Checks a cost before the policies are known. Returns a copy of costs by policy, since they are read once more. Throws ARGUMENT, also
 * for an object without names: a Map would cost nothing.
 */
export function checkedCost(cost: Cost, argument = "cost"): Cost {
  if (!isByPolicy(cost)) return costOf(cost, argument);
  const entries = Object.entries(cost);
  if (entries.length === 0)
    throw argumentError(argument, cost, "an integer number of permits, or an object with those of one policy or more");
  for (const [name, permits] of entries) costOf(permits, `${argument} of ${JSON.stringify(name)}`);
  return Object.assign(Object.create(null), cost);
}

/**
 * The permits of each policy. One that is left out costs `absent(i)`. Names of a step over several limiters begin with the limiter's;
 * without it a name means this policy of each limiter. Throws ARGUMENT for a name that no policy has.
 */
export function costsOf(cost: Cost, names: readonly string[], absent: (i: number) => number = () => 0): Costs {
  if (!isByPolicy(cost)) return cost;
  const own = names.map((name) => name.slice(name.lastIndexOf(":") + 1));
  const known = [...new Set([...names, ...own])];
  for (const name of Object.keys(cost))
    if (!known.includes(name))
      throw argumentError("policy of cost", name, `one of ${known.join(", ")}${didYouMean(name, known)}`);
  return names.map((name, i) => cost[name] ?? cost[own[i]!] ?? absent(i));
}

export function isByPolicy(cost: Cost): cost is Exclude<Cost, number> {
  return typeof cost === "object" && cost !== null && !Array.isArray(cost);
}

export const namesOf = (policies: readonly Policy[]): string[] => policies.map(({ name }) => name);
