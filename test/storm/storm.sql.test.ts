import { afterAll, beforeAll, expect, test } from "vitest";
import { seeds } from "../harness/seeds.ts";
import { databases } from "./databases.ts";
import { mutations } from "./mutations.ts";
import { makeSites } from "./sites.ts";
import { playStorm } from "./storm.ts";

const { first, count } = seeds(12);

const sites = makeSites();
beforeAll(() => Promise.all(sites.map((site) => site.open())));
afterAll(() => Promise.all(sites.map((site) => site.close())));
afterAll(() => databases.close());

test(`${count} storms over all structures from seed ${first}: each structure matches the books`, {
  timeout: 300_000 + count * 15_000,
}, async () => {
  const failed: string[] = [];
  const playOn = async (i: number) => {
    for (let seed = first; seed < first + count; seed++) {
      if (seed % sites.length !== i) continue;
      const { reported, violations } = await playStorm(seed, sites[i]!);
      for (const violation of violations) failed.push(`seed ${seed} (${reported}): ${violation}`);
    }
  };
  await Promise.all(sites.map((_, i) => playOn(i)));
  expect(failed).toEqual([]);
});

test.each(Object.entries(mutations))("the books detect it if %s", async (_, { change, seenBy }) => {
  const all: string[] = [];
  const found = () => seenBy.filter((name) => all.some((violation) => violation.startsWith(`${name}: `)));
  // Not every storm reaches the changed step in each structure.
  for (let seed = first; seed < first + 5 && found().length < seenBy.length; seed++)
    all.push(...(await playStorm(seed, sites[0]!, change)).violations);
  expect(found()).toEqual(seenBy);
});
