import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type OpenStore, onHttp } from "../harness/clock/stepped-stores.ts";
import { Stage } from "./contract/stage.ts";

let opened: OpenStore;
let stage: Stage;
beforeAll(async () => {
  opened = await onHttp();
  stage = new Stage(opened);
});
afterEach(() => stage.clear());
afterAll(() => opened?.close());

test("a worker without notifications polls within 6 s, and computes the next due time itself", async () => {
  expect(opened.store.subscribe).toBeUndefined();
  const queue = stage.queue<number>();
  const done: [payload: number, lateMs: number][] = [];
  const worker = stage.worker(queue, async ({ payload }) => {
    done.push([payload, opened.clock.nowMs]);
  });
  await stage.settle();
  const addedMs = opened.clock.nowMs;
  await queue.add(1);
  await queue.add(2, { delay: 7000 });
  await stage.advance(6000);
  expect(done.map(([payload]) => payload)).toEqual([1]);
  await stage.advance(1005);
  expect(done.map(([payload]) => payload)).toEqual([1, 2]);
  expect(done[1]![1] - addedMs).toBeGreaterThanOrEqual(7000);
  await stage.awaiting(worker.close(), 1000);
  expect(await queue.counts()).toMatchObject({ due: 0, waiting: 0, claimed: 0 });
});
