import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { shardOf } from "../../src/queue/format/layout.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { until } from "../harness/until.ts";
import { countedScript } from "./counted-script.ts";
import { Live } from "./faults/live.ts";

describe.each(["server", "cluster"] as const)("on a %s", (kind) => {
  const live = new Live(kind);

  test("random due times and four consumers: no message comes early, and none is left", async () => {
    const COUNT = 1000;
    const queue = live.queue();
    const early: string[] = [];
    const late: number[] = [];
    const handler = ({ id, dueAtMs }: { id: string; dueAtMs: number }) => {
      const lateMs = Date.now() - dueAtMs; // the servers are of this machine
      if (lateMs < 0) early.push(`${id}: ${lateMs} ms`);
      late.push(lateMs);
    };
    for (let i = 0; i < 4; i++) live.work(live.queue(), handler, { concurrency: 4 });
    await queue.addBulk(
      Array.from({ length: COUNT }, (_, payload) => ({ payload, delay: Math.floor(Math.random() * 3000) })),
    );
    await until("all are handled", () => late.length >= COUNT);
    expect(early).toEqual([]);
    expect(late).toHaveLength(COUNT);
  });

  test("an earlier message wakes workers that sleep for a later one, in every process", async () => {
    const handed: unknown[] = [];
    const queues = [live.queue(), live.queue(), live.queue({ isProxied: true })];
    // Without the notice they would look after some seconds.
    await holdingTimers(2000, async () => {
      for (const queue of queues) live.work(queue, ({ payload }) => void handed.push(payload));
      await queues[0]!.add("late", { delay: "60s" });
      await pause(300);
      const startMs = performance.now();
      await queues[0]!.add("sooner", { delay: 200 });
      await until("it is handled", () => handed.length > 0);
      expect(handed).toEqual(["sooner"]);
      expect(performance.now() - startMs).toBeGreaterThan(195);
    });
  });

  test("a producer whose clock is off by an hour: a delay counts from the server's time, `at` is absolute", async () => {
    const queue = live.queue();
    const wrong = vi
      .spyOn(Date, "now")
      .mockImplementation(() => performance.timeOrigin + performance.now() + 3_600_000);
    await queue.add("delay", { id: "delay", delay: 50 });
    await queue.add("at", { id: "at", at: Date.now() });
    wrong.mockRestore();
    const handed: unknown[] = [];
    live.work(queue, ({ payload }) => void handed.push(payload));
    await until("it is handled", () => handed.length > 0);
    expect(handed).toEqual(["delay"]);
    expect(Math.abs((await queue.get("at"))!.atMs - Date.now() - 3_600_000)).toBeLessThan(30_000);
  });

  test("one message due in ten minutes, another in a month, four workers: at most one command per second each", async () => {
    const queue = live.queue();
    await queue.addBulk([
      { payload: 1, delay: "10m" },
      { payload: 2, delay: "30d" },
    ]);
    let count = 0;
    // A worker asks each shard at least every 5 s for safety. Other timers fire here.
    await holdingTimers(5000, async () => {
      const first = await live.commands();
      for (let i = 0; i < 4; i++) live.work(live.queue(), () => count++);
      let commands = first;
      let turns = 0;
      // As they begin, each asks each shard and subscribes, for as long as the machine needs.
      await until("the servers are given no command in 50 turns of 60 ms", async () => {
        await pause(60); // 50 of them are longer than the pause between the polls of workers that ask too often
        const before = commands;
        commands = await live.commands();
        turns = commands === before && commands >= first + 4 * live.shards ? turns + 1 : 0;
        return turns === 50;
      });
    });
    expect(count).toBe(0);
  });

  test("100 000 messages due at one ms come in order of adding, and no step reads or writes as many as there are", async () => {
    const COUNT = 100_000;
    const queue = live.queue({ deadline: 20_000, scriptOf: countedScript });
    const at = Date.now() - 1000;
    for (let from = 0; from < COUNT; from += 500)
      await queue.addBulk(Array.from({ length: 500 }, (_, i) => ({ payload: from + i, at })));
    let isInOrder = true;
    let count = 0;
    const last = new Array(live.shards).fill(-1);
    const worker = live.work(
      queue,
      ({ id, payload }) => {
        const shard = shardOf(id, live.shards);
        isInOrder &&= (payload as number) > last[shard];
        last[shard] = payload;
        count++;
      },
      { concurrency: 500 },
    );
    await until("all are handled", () => count === COUNT);
    await worker.close();
    expect(isInOrder).toBe(true);
    expect(await queue.counts()).toMatchObject({ due: 0, claimed: 0, dead: 0 });
    const words = await live.mostWords();
    expect(words).toHaveLength(live.shards);
    expect(Math.max(...words)).toBeLessThan(COUNT / live.shards);
  });
});
