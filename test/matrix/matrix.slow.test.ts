import { describe, expect, test, vi } from "vitest";
import { isFew } from "../harness/rows.ts";
import { pairsOf, product } from "./pairs.ts";
import { knownOptionsOf, type StructureName, structures } from "./structures.ts";
import { dimensionsOf, isPossible, rowsOf, storeNames, wantedRowsOf } from "./table.ts";

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

  test("has few rows for `npm test`, with each value, and all others in the rest", () => {
    const wanted = (which: string) => {
      vi.stubEnv("ORIEL_ROWS", which);
      return wantedRowsOf(name).map((row) => row.name);
    };
    const [few, rest] = [wanted("few"), wanted("rest")];
    vi.unstubAllEnvs();
    const all = rowsOf(name);
    expect([...few, ...rest].sort()).toEqual(all.map((row) => row.name).sort());
    const valuesOf = (rows: typeof all) =>
      new Set(rows.flatMap((row) => [row.store, row.scripting, row.kernel, ...Object.entries(row.modes).map(String)]));
    const fewRows = all.filter((row) => few.includes(row.name));
    expect(valuesOf(fewRows)).toEqual(valuesOf(all.filter(({ store }) => isFew(store))));
    expect(few.length).toBeLessThan(all.length / 2);
  });
});

test("has rows for a limiter that does not load", () => {
  const limiters = rowsOf("limiter").filter(({ scripting }) => scripting === "functions");
  expect(new Set(limiters.map(({ store }) => store)).size).toBe(storeNames.length - 2);
});
