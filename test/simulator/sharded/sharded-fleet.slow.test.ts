import { describe, expect, it } from "vitest";
import type { Agree, Agreed } from "../../../src/engine/shards/steps/agree.ts";
import type { Operation } from "../../../src/store/contract.ts";
import { seeds } from "../../harness/seeds.ts";
import { withFramesTakenForCopies, withReadersSpan } from "../subject.ts";
import { playFleet } from "./fleet.ts";
import { type FleetPlan, SMALL_FLEET } from "./plan.ts";

const { first, count } = seeds(6);

describe("many processes over shards, with faults", () => {
  it(`lose nothing that was acknowledged, and double nothing, in ${count} schedules from seed ${first}`, async () => {
    for (let seed = first; seed < first + count; seed++) {
      const { violations, seconds, ...outcome } = await playFleet({ ...SMALL_FLEET, seed });
      console.log(`sharded fleet: ${JSON.stringify(outcome)}`);
      expect(violations, `ORIEL_SEED=${seed} replays it`).toEqual([]);
      expect(outcome.acknowledged).toBeGreaterThan(2000);
      expect(outcome.copies).toBeGreaterThan(0);
      expect(outcome.exact).toBeGreaterThan(20);
      expect(seconds.some(({ degradedPercent }) => degradedPercent > 0)).toBe(true);
      expect(seconds.at(-1)!.grownPercent).toBe(100);
    }
  });

  it("play a seed in the same way every time", async () => {
    const plan = { ...SMALL_FLEET, seed: first, seconds: 20 };
    expect(await playFleet(plan)).toEqual(await playFleet(plan));
  });
});

type Alter = NonNullable<FleetPlan["alter"]>;

/** Another local form of one step. */
function inPlaceOf<I, O>(step: string, form: (real: () => O, input: I) => O): Alter {
  return (operation) => {
    if (operation.name !== step) return operation;
    const real = operation.local as unknown as NonNullable<Operation<I, O>["local"]>;
    const local: typeof real = (keys, key, input, nowMs) => form(() => real(keys, key, input, nowMs), input);
    return { ...operation, local: local as never };
  };
}

const FAULTS: [rule: string, alter: Alter | undefined, patch?: () => () => void][] = [
  [
    "a question reads the shards of its own number only",
    inPlaceOf<Agree, Agreed>("shards/agree", (real, { shards, position }) => ({
      ...real(),
      spreads: [{ shards, position, wholeAgoMs: -1 }],
    })),
  ],
  [
    "a note of a number of shards is not kept",
    inPlaceOf<Agree, Agreed>("shards/agree", (real, input) => {
      input.keepMs = 0;
      return real();
    }),
  ],
  ["a copy of a request counts too", undefined, withReadersSpan(0)],
  ["an event is taken for a copy", undefined, () => withFramesTakenForCopies(500)],
];

describe("the judge finds a rule that is taken out", () => {
  it.each(FAULTS)("%s", async (_rule, alter, patch) => {
    const unpatch = patch?.();
    try {
      for (let seed = 1; seed <= 10; seed++)
        if ((await playFleet({ ...SMALL_FLEET, seed, alter })).violations.length > 0) return;
    } finally {
      unpatch?.();
    }
    throw new Error("not found in 10 schedules");
  });
});
