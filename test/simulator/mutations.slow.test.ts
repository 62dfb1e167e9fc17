import { describe, expect, it } from "vitest";
import { MUTATIONS } from "./mutations.ts";
import { planOf } from "./plan.ts";
import { playSchedule } from "./schedule.ts";

const MAX_PLAYED = Number(process.env.ORIEL_MUTATION_SEEDS ?? 40);

/** `npm run test:all` takes the first few, which fail at once; `npm run faults` takes them all. */
const isFaultsRun = process.env.npm_lifecycle_event === "faults" || process.env.ORIEL_SEEDS !== undefined;
const rules = isFaultsRun ? MUTATIONS : MUTATIONS.slice(0, 4);

/** "A rule whose removal makes nothing fail is a rule to question." */
describe("each rule is needed", () => {
  for (const mutation of rules)
    it(mutation.rule, { timeout: MAX_PLAYED * 60_000 }, async () => {
      let found = 0;
      for (let seed = 1, played = 0; played < MAX_PLAYED && found === 0; seed++) {
        const plan = planOf(seed);
        if (mutation.suits?.(plan) === false) continue;
        played++;
        const { conditions } = mutation;
        const { violations } = await playSchedule(seed, { mutation, conditions });
        // A seed that fails with the rule in place says nothing about the rule.
        if (violations.length > 0 && (await playSchedule(seed, { conditions })).violations.length === 0) found = seed;
      }
      expect(found, `nothing failed in ${MAX_PLAYED} schedules`).toBeGreaterThan(0);
    });
});
