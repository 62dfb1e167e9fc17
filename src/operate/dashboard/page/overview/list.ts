import { COLUMNS, type Column, type RowNumbers, type StructureEntry } from "../../protocol.ts";

const ORDER = new Intl.Collator("en", { numeric: true });

export interface ListChoice {
  readonly search: string;
  readonly kind: string | null;
  /** A column, "name", or "problems": those first, each group by name. */
  readonly sort: string;
  readonly isRising: boolean;
}

export function choiceOf(query: URLSearchParams): ListChoice {
  const sort = query.get("sort") ?? "problems";
  return {
    search: query.get("q") ?? "",
    kind: query.get("kind"),
    sort: isColumn(sort) || sort === "name" ? sort : "problems",
    isRising: (query.get("order") ?? (isColumn(sort) ? "down" : "up")) === "up",
  };
}

export function isColumn(name: string): name is Column {
  return (COLUMNS as readonly string[]).includes(name);
}

/** The structures that match, in the order chosen. Rows without the number come last. */
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
  if (!isColumn(sort)) {
    const byName = found.sort((a, b) => ORDER.compare(a.name, b.name) || ORDER.compare(a.kind, b.kind));
    if (!isRising) byName.reverse();
    if (sort === "name") return byName;
    const isWell = ({ id, conflict }: StructureEntry) => {
      const { isBad, error } = numbers.get(id) ?? {};
      return Number(!isBad && error === undefined && !conflict);
    };
    return byName.sort((a, b) => isWell(a) - isWell(b));
  }
  const numberOf = ({ id }: StructureEntry) => numbers.get(id)?.[sort] ?? null;
  return found.sort((one, other) => {
    const [a, b] = [numberOf(one), numberOf(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return isRising ? a - b : b - a;
  });
}
