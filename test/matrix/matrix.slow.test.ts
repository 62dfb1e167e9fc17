import { describe, expect, test } from "vitest";
import { isFew } from "../harness/rows.ts";
import { pairsOf, pairwise, product } from "./pairs.ts";
import { knownOptionsOf, type StructureName, structures } from "./structures.ts";
import { dimensionsOf, isPossible, rowsOf, storeNames } from "./table.ts";

const names = Object.keys(structures) as StructureName[];

describe.each(names)("the matrix of %s", (name) => {
  const { modes, elsewhere, ...structure } = structures[name];

  test("has a dimension for each option of its code, or a reason for none", () => {
    const known = knownOptionsOf({ modes, elsewhere, ...structure });
    expect([...Object.keys(modes), ...Object.keys(elsewhere)].sort()).toEqual(known.sort());
  });

  test("has every possible pair of values", () => {
    const dimensions = dimensionsOf(name);
    const rows = rowsOf(name);
    const asRow = ({ name: _, modes: own, ...row }: (typeof rows)[number]) => ({
      ...(dimensions.kernel ? row : { store: row.store, scripting: row.scripting }),
      ...Object.fromEntries(Object.entries(own).map(([mode, value]) => [mode, JSON.stringify(value ?? null)])),
    });
    const covered = pairsOf(rows.map(asRow));
    const missing = [...pairsOf(product(dimensions, isPossible))].filter((pair) => !covered.has(pair));
    expect(missing).toEqual([]);
  });

  test("has them also if few stores and the rest of them run apart", () => {
    const dimensions = dimensionsOf(name);
    const apart = [isFew, (store: string) => !isFew(store)].flatMap((isIn) =>
      pairwise({ ...dimensions, store: storeNames.filter(isIn) }, isPossible),
    );
    const covered = pairsOf(apart);
    expect([...pairsOf(product(dimensions, isPossible))].filter((pair) => !covered.has(pair))).toEqual([]);
  });
});

test("has rows for a limiter that does not load", () => {
  const limiters = rowsOf("limiter").filter(({ scripting }) => scripting === "functions");
  expect(new Set(limiters.map(({ store }) => store)).size).toBe(storeNames.length - 2);
});
