import { expect, test } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import { knownOptionsOf, structures } from "../matrix/structures.ts";
import { UNPLAYED } from "./modes.ts";
import { planOf } from "./plan.ts";
import { openSeries, optionsOf } from "./subject.ts";
import { Random } from "./world/random.ts";

const RETENTION_MS = 5_000;
const plans = Array.from({ length: 100 }, (_, seed) => planOf(seed));

test("the simulator sets every option of a series, or has a reason not to", () => {
  const given = Object.keys(optionsOf(planOf(1), RETENTION_MS, new Random(1)));
  expect([...given, ...Object.keys(UNPLAYED)].sort()).toEqual(knownOptionsOf(structures.series).sort());
});

test.each(Object.entries(structures.series.modes))(
  "the simulator draws every value of the matrix for %s",
  (mode, values) => {
    const drawn = new Set(plans.map((plan) => optionsOf(plan, RETENTION_MS, new Random(1))[mode as "values"]));
    expect(drawn).toEqual(new Set(values));
  },
);

test("a mode of the matrix reaches the series", () => {
  const plan = planOf(1);
  const open = () =>
    openSeries(memoryStore(), { ...plan, modes: { ...plan.modes, brandNew: 1 } }, RETENTION_MS, new Random(1));
  expect(open).toThrow(/brandNew/);
});
