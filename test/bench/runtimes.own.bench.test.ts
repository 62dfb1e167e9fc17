import { expect, test } from "vitest";
import { benchRuntimes, SMALL_RUNTIMES } from "../../bench/runtimes.ts";
import { programs } from "../runtimes/programs.ts";

test("the bench of runtimes", async () => {
  const { rows, notes } = await benchRuntimes(SMALL_RUNTIMES);
  const runtimes = new Set(rows.map(({ runtime }) => runtime));
  for (const name of ["Node 24", "Deno", "Bun", "Chromium"]) if (programs[name]) expect(runtimes, name).toContain(name);
  expect(runtimes).toContain("workerd");
  const works = rows.filter(({ kernel }) => kernel !== "");
  expect(new Set(works.map(({ what }) => what)).size).toBe(Object.keys(SMALL_RUNTIMES.works).length);
  expect(works.every(({ kernel }) => kernel === "wasm-simd")).toBe(true);
  expect(rows.filter(({ what }) => what === "start and first answer of oriel").length).toBe(
    ["Node 24", "Deno", "Bun", "Chromium"].filter((name) => programs[name]).length + 1,
  );
  expect(rows.every(({ ms }) => Number.isFinite(ms))).toBe(true);
  expect(notes).toHaveLength(3);
});
