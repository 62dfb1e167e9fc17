import { didYouMean } from "../../base/did-you-mean.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import type { Store } from "../../entries/index.ts";
import type { StructureKind } from "../../store/registry/live.ts";
import { type RegisteredStructure, readRegistry } from "../../store/registry/read-registry.ts";

export const KINDS: readonly StructureKind[] = [
  ...(["Series", "LockedWindow", "Limiter", "Lock", "ReadWriteLock", "Semaphore", "MultiSemaphore"] as const),
  ...(["Counters", "DrainService", "DelayQueue", "Breaker", "FleetMetrics"] as const),
];

/** The structure of a name and a kind that a user has typed. */
export interface Found {
  kind: StructureKind;
  name: string;
  /** Undefined if the registry does not list it. */
  structure: RegisteredStructure | undefined;
  /** `; did you mean "..."?`, or nothing. */
  advice: string;
}

/** A kind as typed: the case does not matter. Throws ARGUMENT. */
export function kindOf(typed: string | undefined): StructureKind | undefined {
  if (typed === undefined) return undefined;
  const kind = KINDS.find((each) => each.toLowerCase() === typed.toLowerCase());
  if (!kind) throw argumentError("--kind", typed, `one of ${KINDS.join(", ")}${didYouMean(typed, KINDS)}`);
  return kind;
}

/** Finds a structure by its name. Of several kinds, `kind` says which. `absent`: the kind of a name that is not listed. */
export async function find(
  store: Store,
  name: string,
  kind: StructureKind | undefined,
  absent: StructureKind,
): Promise<Found> {
  const { structures } = await readRegistry(store);
  const ofKind = structures.filter((each) => kind === undefined || each.kind === kind);
  const found = ofKind.filter((each) => each.name === name);
  if (found.length > 1)
    throw new OrielError(
      "ARGUMENT",
      `the registry lists ${JSON.stringify(name)} as ${found.map((each) => each.kind).join(", ")}; pass one of them as --kind`,
    );
  const [structure] = found;
  const names = ofKind.map((each) => each.name);
  return {
    kind: structure?.kind ?? kind ?? absent,
    name,
    structure,
    advice: structure ? "" : didYouMean(name, names),
  };
}
