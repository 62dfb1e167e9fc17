import { afterEach, expect, test } from "vitest";
import { activeKernel, forceKernel, useKernel } from "../../../src/engine/kernel/choose.ts";
import { uniformOf } from "../../stats/random.ts";
import { Pair } from "../pair.ts";

const SEED = Number(process.env.ORIEL_FUZZ_SEED ?? 25);

afterEach(() => forceKernel(null));

test(`windows that were not asked for before equal brute force, also while events arrive and leave; seed ${SEED}`, async () => {
  const kernel = activeKernel();
  let indexes = 0;
  const counted = () => {
    indexes++;
    return kernel.wavelet();
  };
  useKernel({ name: kernel.name, create: () => ({ ...kernel, wavelet: counted }) });
  const pair = new Pair({ retention: 60_000, values: "float32" });
  const u = uniformOf(SEED);
  const put = async (many: number) => {
    pair.nowMs += Math.floor(u() * 800);
    await pair.put(Array.from({ length: many }, () => Math.round(1e4 * u() ** 3)));
  };
  for (let i = 0; i < 40; i++) await put(600);
  for (let i = 0; i < 40; i++) {
    await put(Math.floor(u() * 1000));
    const span = 1 + Math.floor(u() * 60_000);
    const options = { span, percentiles: [50, 99.9], closed: i % 4 === 0 ? ("both" as const) : ("right" as const) };
    const at = i % 3 === 0 ? {} : { at: pair.nowMs - Math.floor(u() * 2000) };
    await pair.check({ ...options, ...at }, { cold: i % 20 === 19 });
  }
  // One for the local series, one for the resident one.
  expect(indexes).toBe(2);
});
