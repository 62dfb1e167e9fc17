import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LONG, SHORT } from "./plan.ts";
import { soak } from "./run.ts";
import { tallyOf } from "./tally.ts";

const { ORIEL_SOAK_SECONDS, ORIEL_TALLY } = process.env;
const plan = ORIEL_SOAK_SECONDS === undefined ? SHORT : { ...LONG, seconds: Number(ORIEL_SOAK_SECONDS) };
/** Long enough for any machine: nothing here is timed. */
const LONGEST_MS = plan.seconds * 1000 + 600_000;

test(`${plan.workers} processes on ${plan.series} series, some killed: exact and bounded`, {
  timeout: LONGEST_MS,
}, async () => {
  const outcome = await soak(plan);
  const tally = tallyOf(outcome);
  // `npm run soak` prints it last, after vitest's own summary.
  if (ORIEL_TALLY) writeFileSync(ORIEL_TALLY, tally);
  else process.stdout.write(`${tally}\n`);
  expect(outcome.wrong.slice(0, 20), tally).toEqual([]);
  expect(outcome.keys.withoutExpiry).toBe(0);
  expect(outcome.server.evicted).toBe(0);
  // All of it happened.
  const { ledger, crew, auditor, left } = outcome;
  for (const count of [ledger.acknowledged, ledger.judged, crew.kills, crew.compared, outcome.keys.keys])
    expect(count).toBeGreaterThan(0);
  expect(auditor.reads).toBeGreaterThanOrEqual(plan.series);
  expect(left).toBe(plan.seesEnd ? 0 : undefined);
});
