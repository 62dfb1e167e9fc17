import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type Outcome, playSchedule } from "./schedule.ts";
import { explain, tallyOf } from "./tally.ts";

const { ORIEL_SEED, ORIEL_SEEDS = "40", ORIEL_FIRST_SEED = "1", ORIEL_TALLY } = process.env;
const first = Number(ORIEL_SEED ?? ORIEL_FIRST_SEED);
const count = ORIEL_SEED === undefined ? Number(ORIEL_SEEDS) : 1;

it(`counts each event once in ${count} schedules from seed ${first}`, { timeout: 60_000 + count * 2_000 }, async () => {
  const all: Outcome[] = [];
  let firstFailure = "";
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await playSchedule(seed);
    all.push(outcome);
    if (outcome.violations.length > 0 && !firstFailure) firstFailure = await explain(outcome);
  }
  if (ORIEL_TALLY) appendFileSync(ORIEL_TALLY, `${tallyOf(all)}\n`);
  else process.stdout.write(`${tallyOf(all)}\n`);
  expect(firstFailure).toBe("");
});
