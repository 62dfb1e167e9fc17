import type { Column, RowNumbers, StructureEntry } from "../../protocol.ts";
import { routeNow } from "../address.ts";

/** The columns that hold numbers, in the order shown. */
export const TITLES: Record<Column, string> = {
  rate: "Rate /s",
  p50: "p50",
  p90: "p90",
  p99: "p99",
  max: "Max",
  denied: "Denied /s",
  lag: "Lag",
};
const ORDER = new Intl.Collator("en", { numeric: true });

export interface ListChoice {
  readonly search: string;
  readonly kind: string | null;
  /** A column, "name", or "problems": those first, each group by name. */
  readonly sort: string;
  readonly isRising: boolean;
}

/** As the address has it. */
export function choiceNow(): ListChoice {
  const { query } = routeNow();
  const sort = query.get("sort") ?? "problems";
  return {
    search: query.get("q") ?? "",
    kind: query.get("kind"),
    sort: isColumn(sort) || sort === "name" ? sort : "problems",
    isRising: (query.get("order") ?? (isColumn(sort) ? "down" : "up")) === "up",
  };
}

function isColumn(name: string): name is Column {
  return Object.hasOwn(TITLES, name);
}

/** The structures of `list` in the order that they have in `before`. New ones come last. */
export function inOrderOf(before: readonly StructureEntry[], list: readonly StructureEntry[]): StructureEntry[] {
  const places = new Map(before.map(({ id }, i) => [id, i]));
  const placeOf = ({ id }: StructureEntry) => places.get(id) ?? before.length;
  return [...list].sort((a, b) => placeOf(a) - placeOf(b));
}

/** The structures that match, in the order chosen. Those without the number come last, problems first. */
export function listed(
  structures: readonly StructureEntry[],
  { search, kind, sort, isRising }: ListChoice,
  numbers: ReadonlyMap<string, RowNumbers>,
): StructureEntry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = structures.filter((each) => {
    if (kind !== null && each.kind !== kind) return false;
    const text = `${each.kind} ${each.name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  found.sort((a, b) => ORDER.compare(a.name, b.name) || ORDER.compare(a.kind, b.kind));
  const isByNumber = isColumn(sort);
  if (!isByNumber && !isRising) found.reverse();
  const isWell = ({ id, conflict }: StructureEntry) => {
    const { isBad, error } = numbers.get(id) ?? {};
    return Number(!isBad && error === undefined && !conflict);
  };
  if (sort !== "name") found.sort((a, b) => isWell(a) - isWell(b));
  if (!isByNumber) return found;
  const numberOf = ({ id }: StructureEntry) =>
    numbers.get(id)?.[sort] ?? (isRising ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
  return found.sort((a, b) => (isRising ? numberOf(a) - numberOf(b) : numberOf(b) - numberOf(a)));
}
