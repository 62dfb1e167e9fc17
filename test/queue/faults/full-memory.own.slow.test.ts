import { expect, test } from "vitest";
import { DelayQueue, memoryStore } from "../../../src/entries/index.ts";

test('a full memory store accepts results, and stores "failed" in place of their reasons', async () => {
  const clock = { nowMs: Date.UTC(2100, 0, 1) };
  const store = memoryStore({ clock: () => clock.nowMs, maxBytes: 20_000 });
  const queue = new DelayQueue<number>(store, "jobs", { shards: 1 });
  const claim = () => queue.claim({ limit: 1, visibility: "1h" });
  await queue.add(1);
  const [claimed] = await claim();
  let refused: unknown;
  let added = 0;
  for (; refused === undefined; added++)
    await queue.add(added, { id: `d${added}`, delay: "1d" }).catch((error) => {
      refused = error;
    });
  expect(refused).toMatchObject({ code: "OVERLOADED" });

  const sizeBytes = store.sizeBytes;
  await queue.nack(claimed!, { error: new Error("x".repeat(5000)), delay: 0 });
  expect(store.sizeBytes).toBeLessThanOrEqual(sizeBytes);
  const [again] = await claim();
  expect([again?.payload, again?.attempt, again?.lastError]).toEqual([1, 2, "failed"]);

  for (let i = 0; i < added; i++) await queue.cancel(`d${i}`);
  await queue.nack(again!, { error: new Error("x".repeat(5000)), delay: 0 });
  expect((await claim())[0]?.lastError).toMatch(/^Error: x{500}/);
});
