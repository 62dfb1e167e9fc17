import { afterAll, beforeAll, expect, test } from "vitest";
import { FaultyServer } from "./server-faults.ts";
import { playStorm } from "./storm.ts";

const { ORIEL_SEED, ORIEL_SEEDS, ORIEL_FIRST_SEED = "1" } = process.env;
const first = Number(ORIEL_SEED ?? ORIEL_FIRST_SEED);
const count = ORIEL_SEED === undefined ? Number(ORIEL_SEEDS ?? 12) : 1;
const SITES = 2;

const sites = Array.from({ length: SITES }, () => new FaultyServer());
beforeAll(() => Promise.all(sites.map((site) => site.open())));
afterAll(() => Promise.all(sites.map((site) => site.close())));

test(`${count} storms over all structures from seed ${first}: each is what its books say`, {
  timeout: 60_000 + count * 15_000,
}, async () => {
  const failed: string[] = [];
  let next = first;
  const playOn = async (site: FaultyServer) => {
    while (next < first + count) {
      const seed = next++;
      const { told, violations } = await playStorm(seed, site);
      for (const violation of violations) failed.push(`seed ${seed} (${told}): ${violation}`);
    }
  };
  await Promise.all(sites.map(playOn));
  expect(failed).toEqual([]);
});
