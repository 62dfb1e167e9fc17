import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { seeds } from "../../harness/seeds.ts";
import { type Outcome, playSchedule } from "./schedule.ts";
import { explain, tallyOf } from "./tally.ts";

const { first, count } = seeds(40);
const { ORIEL_TALLY } = process.env;

it(`counts each event once in ${count} schedules from seed ${first}`, {
  timeout: 300_000 + count * 2_000,
}, async () => {
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
