import { didYouMean } from "../../base/did-you-mean.ts";
import { argumentError } from "../../base/errors.ts";
import type { Policy } from "./policies.ts";

/** Permits: one number for every policy, or numbers by the names of policies. */
export type Cost = number | { readonly [policy: string]: number };

/** The permits that a step takes: one number for every policy, or one for each, in their order. */
export type Costs = number | readonly number[];

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
    throw argumentError(argument, cost, "an integer number of permits, or an object of them by policy");
  for (const [name, permits] of entries) costOf(permits, `${argument} of ${JSON.stringify(name)}`);
  return Object.fromEntries(entries);
}

/** The permits of each policy. One that is left out costs `absent(i)`. Throws ARGUMENT for a name that no policy has. */
export function costsOf(cost: Cost, names: readonly string[], absent: (i: number) => number = () => 0): Costs {
  if (!isByPolicy(cost)) return cost;
  for (const name of Object.keys(cost))
    if (!names.includes(name))
      throw argumentError("policy of cost", name, `one of ${names.join(", ")}${didYouMean(name, names)}`);
  return names.map((name, i) => (Object.hasOwn(cost, name) ? cost[name]! : absent(i)));
}

export function costAt(costs: Costs, i: number): number {
  return typeof costs === "number" ? costs : costs[i]!;
}

export function isByPolicy(cost: Cost): cost is Exclude<Cost, number> {
  return typeof cost === "object" && cost !== null && !Array.isArray(cost);
}

export const namesOf = (policies: readonly Policy[]): string[] => policies.map(({ name }) => name);
