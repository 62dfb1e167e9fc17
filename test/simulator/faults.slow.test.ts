import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { seeds } from "../harness/seeds.ts";
import { explain, Tally } from "./laws/tally.ts";
import { playSchedule } from "./schedule.ts";

const { first, count } = seeds(30);
const { ORIEL_TALLY } = process.env;

it(`keeps its guarantees in ${count} schedules from seed ${first}`, { timeout: 300_000 + count * 60_000 }, async () => {
  const tally = new Tally();
  let firstFailure = "";
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await playSchedule(seed);
    tally.add(outcome);
    if (outcome.violations.length > 0 && !firstFailure) firstFailure = await explain(outcome);
  }
  // `npm run faults` prints it last, after vitest's own summary.
  if (ORIEL_TALLY) appendFileSync(ORIEL_TALLY, `${tally.line}\n`);
  else process.stdout.write(`${tally.line}\n`);
  expect(tally.failed, firstFailure).toEqual([]);
});

it("repeats a seed in the same way every time", async () => {
  const [once, again] = [await playSchedule(first, { tracing: true }), await playSchedule(first, { tracing: true })];
  expect(again.trace).toEqual(once.trace);
});

it("seals by the processes of the series too, without one that only seals", async () => {
  const upkeep = { sealAfterMs: 100, sealSpreadMs: 1000, idleMs: 1500, minIdleBytes: 200 };
  const { violations, seals } = await playSchedule(1, { conditions: { sealerCount: 0, upkeep, writerCount: 3 } });
  expect(violations).toEqual([]);
  expect(seals).toBeGreaterThan(0);
});
