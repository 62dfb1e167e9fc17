import { expect, test } from "vitest";
import { append } from "../../src/journal/steps/append.ts";
import { rotate } from "../../src/journal/steps/rotate.ts";
import { PLANTS, withPlant } from "./plants.ts";
import { soak } from "./run.ts";

test.concurrent.each(Object.entries(PLANTS))("a soak finds that %s", { timeout: 180_000 }, async (plant, { found }) => {
  // Throws here, and not in the workers, for a text that is gone.
  for (const step of [append, rotate]) withPlant(plant)(step);
  const { wrong } = await soak({
    seconds: 3,
    leastEvents: 3000,
    workers: 1,
    spared: 1,
    series: 40,
    killEveryMs: 0,
    isPolite: false,
    seesEnd: false,
    plant,
  });
  expect(wrong.filter((text) => found.test(text)).length, wrong.slice(0, 5).join("\n")).toBeGreaterThan(0);
});
