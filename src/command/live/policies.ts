import { argumentError, OrielError } from "../../base/errors.ts";
import { Limiter, type Store } from "../../entries/index.ts";
import { openLimiter } from "../../operate/kinds/limiter.ts";
import { typedPolicy } from "../../operate/kinds/policies.ts";
import type { Found } from "./find.ts";

const EXAMPLE = `--policies '[{"kind":"sliding-window","limit":100,"span":"1m"}]'`;

/** A limiter with the policies that were typed, else those of the registry. Throws ARGUMENT. */
export function limiterOf(store: Store, found: Found, typed: string | undefined): Limiter {
  const { name, settings, isListed, advice } = found;
  if (typed !== undefined) return new Limiter(store, listOf(typed).map(typedPolicy), { name });
  const shown = JSON.stringify(name);
  if (!isListed)
    throw new OrielError("ARGUMENT", `the registry lists no Limiter ${shown}${advice}; pass its policies: ${EXAMPLE}`);
  if (!Array.isArray(settings.policies))
    throw new OrielError(
      "ARGUMENT",
      `the policies of Limiter ${shown} depend on the id, by a function that only its processes have; pass those of this id: ${EXAMPLE}`,
    );
  return openLimiter(store, found);
}

function listOf(typed: string): Record<string, unknown>[] {
  let list: unknown;
  try {
    list = JSON.parse(typed);
  } catch {
    throw argumentError("--policies", typed, `a JSON array, like ${EXAMPLE}`);
  }
  if (!Array.isArray(list) || list.length === 0 || list.some((each) => typeof each !== "object" || each === null))
    throw argumentError("--policies", typed, `a JSON array of objects, like ${EXAMPLE}`);
  return list;
}
