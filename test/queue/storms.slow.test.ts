import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { seeds } from "../harness/seeds.ts";
import { MUTATIONS, textOf } from "./storm/mutations.ts";
import { playStorms, tallyOf } from "./storm/storm.ts";

const { first, count } = seeds(20);
const { ORIEL_SEEDS, ORIEL_TALLY } = process.env;
const SITES = Number(process.env.ORIEL_SITES ?? 8);

test(`${count} storms from seed ${first}: no accepted message is lost or held twice, and all are finished`, {
  timeout: 300_000 + count * 2000,
}, async () => {
  const all = await playStorms({ first, count, sites: SITES });
  const tally = tallyOf(all);
  if (ORIEL_TALLY) appendFileSync(ORIEL_TALLY, `${tally}\n`);
  else process.stdout.write(`${tally}\n`);
  expect(all.flatMap(({ seed, violations }) => violations.map((each) => `seed ${seed}: ${each}`))).toEqual([]);
  expect(all).toHaveLength(count);
});

test("each planted fault changes one place", () => {
  for (const each of MUTATIONS) expect([each.rule, textOf(each).split(each.from).length]).toEqual([each.rule, 2]);
});

/** `npm run test:all` takes the first one; `npm run faults` takes them all. */
const broken = MUTATIONS.slice(0, ORIEL_SEEDS === undefined ? 1 : MUTATIONS.length);

test.each(broken.map((mutation) => [mutation.rule, mutation] as const))("storms depend on: %s", async (_, mutation) => {
  const all = await playStorms({ first: 1, count: 200, sites: SITES, mutation, isEndedByFailure: true });
  const failed = all.filter(({ violations }) => violations.length > 0);
  expect(failed.length, `nothing failed in ${all.length} storms`).toBeGreaterThan(0);
});
