import { expect, test } from "vitest";
import { PLANTS, plantedScripts } from "./plants.ts";
import { soak } from "./run.ts";

test.concurrent.each(Object.entries(PLANTS))("a soak finds that %s", async (plant, { found }) => {
  const { wrong } = await soak({
    seconds: 3,
    minEvents: 3000,
    workers: 1,
    spared: 1,
    series: 40,
    killEveryMs: 0,
    isPolite: false,
    seesEnd: false,
    scripts: plantedScripts(plant),
  });
  expect(wrong.filter((text) => found.test(text)).length, wrong.slice(0, 5).join("\n")).toBeGreaterThan(0);
});
