import { expect, it } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import { dashboardSettings } from "../../src/operate/dashboard/options.ts";
import { type Listed, Scope } from "../../src/operate/kinds/scope.ts";

it("closes the structures that were not used for the longest time", () => {
  const scope = new Scope(memoryStore(), dashboardSettings({}));
  const closed: number[] = [];
  const use = (i: number) =>
    scope.opened(
      { id: `${i}`, settings: {} } as Listed,
      () => i,
      async (made) => {
        closed.push(made);
      },
    );
  for (let i = 0; i < 2000; i++) expect(use(i)).toBe(i);
  use(0);
  expect(closed).toEqual([]);
  use(2000);
  use(2001);
  expect(closed).toEqual([1, 2]);
});
