import { expect, test } from "vitest";
import { structures } from "../../matrix/structures.ts";
import { planOf } from "./plan.ts";
import { Stage } from "./stage.ts";

const plans = Array.from({ length: 50 }, (_, seed) => planOf(seed));

test.each(Object.entries(structures.counters.modes))(
  "the simulator draws every value of the matrix for %s",
  (mode, values) => {
    const drawn = new Set(plans.map(({ modes }) => modes[mode]));
    expect(drawn).toEqual(new Set(values.map((value) => value ?? undefined)));
  },
);

test("a mode of the matrix reaches the counters", () => {
  const plan = planOf(1);
  const stage = new Stage({ ...plan, modes: { ...plan.modes, brandNew: 1 } }, false);
  expect(() => stage.open(stage.start("any", async () => {}))).toThrow(/brandNew/);
});
