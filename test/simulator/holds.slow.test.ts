import { appendFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { seeds } from "../harness/seeds.ts";
import { MUTATIONS } from "./holds/mutations.ts";
import { playSchedule } from "./holds/schedule.ts";
import { explain, tallyOf } from "./holds/tally.ts";

const { first, count } = seeds(40);
const { ORIEL_TALLY } = process.env;
const MAX_PLAYED = Number(process.env.ORIEL_MUTATION_SEEDS ?? 40);

it(`keeps the laws of holds in ${count} schedules from seed ${first}`, {
  timeout: 300_000 + count * 5_000,
}, async () => {
  const tally = tallyOf(first);
  let firstFailure = "";
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await playSchedule(seed);
    tally.add(outcome);
    if (outcome.violations.length > 0 && !firstFailure) firstFailure = await explain(outcome);
  }
  if (ORIEL_TALLY) appendFileSync(ORIEL_TALLY, `${tally.line}\n`);
  else process.stdout.write(`${tally.line}\n`);
  expect(tally.failed, firstFailure).toEqual([]);
});

it("repeats a seed in the same way every time", async () => {
  const [once, again] = [await playSchedule(first, { tracing: true }), await playSchedule(first, { tracing: true })];
  // Ids of processes are drawn by chance, and decide nothing.
  const timesOf = ({ trace }: typeof once) => trace.map((line) => line.replace(/"\w{14,32}"/g, "an id"));
  expect(timesOf(again)).toEqual(timesOf(once));
});

/** "A rule whose removal makes nothing fail is a rule to question." */
describe("each rule of holds is needed", () => {
  for (const mutation of MUTATIONS)
    it(mutation.rule, async () => {
      const { conditions } = mutation;
      let found = 0;
      for (let seed = 1; seed <= MAX_PLAYED && found === 0; seed++) {
        const { violations } = await playSchedule(seed, { mutation, conditions });
        // A seed that fails with the rule in place says nothing about the rule.
        if (violations.length > 0 && (await playSchedule(seed, { conditions })).violations.length === 0) found = seed;
      }
      expect(found, `nothing failed in ${MAX_PLAYED} schedules`).toBeGreaterThan(0);
    });
});
