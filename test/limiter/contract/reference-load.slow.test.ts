import { expect, test } from "vitest";
import { Limiter, memoryStore, slidingWindow } from "../../../src/entries/index.ts";

test("T37 a sliding window above the capacity of its records stays full: 200 000 penalties of 2^31 - 1", async () => {
  const limiter = new Limiter(memoryStore(), [slidingWindow({ limit: 2 ** 47, span: "365d" })], { name: "big" });
  for (let i = 0; i < 200; i++)
    await Promise.all(Array.from({ length: 1000 }, () => limiter.penalty("a", 2 ** 31 - 1)));
  expect(await limiter.take("a")).toMatchObject({ allowed: false, remaining: 0 });
});

test("T39 20 000 expired ids leave nothing; a full store refuses new ids and keeps blocked ones blocked", async () => {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore({ clock: () => clock.nowMs, maxBytes: 2 * 2 ** 20, registry: false });
  const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: 1000 })], { name: "ids" });
  const take = (id: string) =>
    limiter.take(id).then(
      ({ allowed }) => allowed,
      ({ code }) => code,
    );
  await limiter.block("enemy", "1h");
  const found = await Promise.all(Array.from({ length: 20_000 }, (_, n) => take(`id${n}`)));
  expect(new Set(found)).toEqual(new Set([true, "OVERLOADED"]));
  expect(store.sizeBytes).toBeLessThanOrEqual(2 * 2 ** 20);
  expect(await take("enemy")).toBe(false);
  clock.nowMs += 1001;
  for (let i = 0; i < 20_000; i++) await take("one");
  expect(store.sizeBytes).toBeLessThan(2000);
  expect(await take("new")).toBe(true);
  expect(await take("enemy")).toBe(false);
});
