import { didYouMean } from "../../base/did-you-mean.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import type { Store } from "../../entries/index.ts";
import type { Described } from "../../operate/kinds/scope.ts";
import { type Settings, STRUCTURE_KINDS, type StructureKind } from "../../store/registry/live.ts";
import { readRegistry } from "../../store/registry/read-registry.ts";

/** The structure of a name and a kind that a user has typed. */
export interface Found extends Described {
  kind: StructureKind;
  /** Those of the registry, or none. */
  settings: Settings;
  isListed: boolean;
  /** `; did you mean "..."?`, or nothing. */
  advice: string;
}

/** A kind as typed: the case does not matter. Throws ARGUMENT. */
export function kindOf(typed: string | undefined): StructureKind | undefined {
  if (typed === undefined) return undefined;
  const kind = STRUCTURE_KINDS.find((each) => each.toLowerCase() === typed.toLowerCase());
  if (!kind)
    throw argumentError("--kind", typed, `one of ${STRUCTURE_KINDS.join(", ")}${didYouMean(typed, STRUCTURE_KINDS)}`);
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
    settings: structure?.settings ?? {},
    isListed: !!structure,
    advice: structure ? "" : didYouMean(name, names),
  };
}

/** The same, for a command that cannot do without the settings of the registry. Throws ARGUMENT if it is not listed. */
export function listed(found: Found): Found {
  const { kind, name, isListed, advice } = found;
  if (isListed) return found;
  const its = kind === "Counters" ? "their" : "its";
  throw new OrielError(
    "ARGUMENT",
    `the registry lists no ${kind} ${JSON.stringify(name)}, and the command needs ${its} settings${advice}`,
  );
}

/** Whether a name matches a pattern, in which `*` stands for any characters and `?` for one. */
export function matcherOf(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  // Not a regular expression: "a*a*a*a*b" would take it exponential time.
  const parts = [...pattern];
  return (name) => matches([...name], parts);
}

function matches(name: readonly string[], pattern: readonly string[]): boolean {
  let [at, part, star, resumeAt] = [0, 0, -1, 0];
  while (at < name.length) {
    if (pattern[part] === "*") [star, resumeAt] = [part++, at];
    else if (part < pattern.length && (pattern[part] === "?" || pattern[part] === name[at])) {
      at++;
      part++;
    } else if (star >= 0) [part, at] = [star + 1, ++resumeAt];
    else return false;
  }
  while (pattern[part] === "*") part++;
  return part === pattern.length;
}
