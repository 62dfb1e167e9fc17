import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { startChild } from "../harness/child.ts";
import { until } from "../harness/until.ts";
import { Live } from "./live.ts";

const live = new Live();
const consumer = new URL("./consumer.ts", import.meta.url);
// biome-ignore lint/suspicious/noThenProperty: what becomes of the connection
const silently = { then: "silence" } as const;
const ids = (count: number, delay = 0) => Array.from({ length: count }, (_, i) => ({ payload: i, id: `${i}`, delay }));

test("an earlier message wakes who sleeps for a later one, in every process", async () => {
  const handed: unknown[] = [];
  const queues = [live.queue(), live.queue(), live.queue(live.proxy.url)];
  for (const queue of queues) live.work(queue, ({ payload }) => void handed.push(payload));
  await queues[0]!.add("late", { delay: "60s" });
  await pause(300);
  const startMs = performance.now();
  await queues[0]!.add("sooner", { delay: 200 });
  await until("it is handled", () => handed.length > 0);
  expect(handed).toEqual(["sooner"]);
  const tookMs = performance.now() - startMs;
  expect(tookMs).toBeGreaterThan(195);
  expect(tookMs).toBeLessThan(3000); // far from the look that comes anyway
});

test("kill -9 of a consumer with 8 messages in flight: all come again, each once, as second deliveries", async () => {
  const queue = live.queue();
  await queue.addBulk(ids(8));
  const child = startChild(consumer, [live.server.url, 8, 1000, 600_000]);
  await child.printed(8);
  expect([...child.lines].sort()).toEqual(ids(8).map(({ id }) => `${id} 1`));
  await pause(1500); // it extends what it has: nobody else gets any
  expect(await queue.claim({ most: 10 })).toEqual([]);
  await child.kill();
  const handed: string[] = [];
  for (const each of [queue, live.queue()])
    live.work(each, ({ id, attempt }) => void handed.push(`${id} ${attempt}`), { concurrency: 3 });
  await until("all are handled", async () => handed.length >= 8 && (await queue.counts()).claimed === 0);
  expect(handed.sort()).toEqual(ids(8).map(({ id }) => `${id} 2`));
});

test("a consumer that stood still past its visibility: another has the message, and what it says is refused", async () => {
  const queue = live.queue();
  const child = startChild(consumer, [live.server.url, 1, 600, 300]);
  await queue.add(1, { id: "a" });
  await child.printed(1);
  child.pause();
  let end = () => {};
  const attempts: number[] = [];
  live.work(queue, ({ attempt }) => {
    attempts.push(attempt);
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  await until("another has it", () => attempts.length === 1);
  child.resume();
  await child.printed(2);
  expect(child.lines).toEqual(["a 1", "lost a 1"]);
  expect(await queue.get("a")).toMatchObject({ state: "claimed", attempt: 2 });
  end();
  await until("it is done", async () => (await queue.get("a")) === undefined);
  expect(attempts).toEqual([2]);
  await child.kill();
});

test("poison is delivered as often as allowed, then dead with its error; others are not kept from their handlers", async () => {
  const queue = live.queue(undefined, { attempts: 3, backoff: 20 });
  let deliveries = 0;
  const done: string[] = [];
  await queue.add("poison", { id: "poison" });
  await queue.addBulk(ids(100));
  live.work(queue, ({ id }) => {
    if (id !== "poison") return void done.push(id);
    throw new Error(`no ${++deliveries}`);
  });
  await until("all have ended", async () => done.length === 100 && (await queue.counts()).dead === 1);
  expect(deliveries).toBe(3);
  expect(done).toEqual(ids(100).map(({ id }) => id));
  expect(await queue.dead.list()).toMatchObject([{ id: "poison", attempt: 3, lastError: "Error: no 3" }]);
});

test("every notification is lost: what is due is found by the look that comes anyway", async () => {
  const handed: unknown[] = [];
  live.proxy.dropReplies(1e9, { command: "", ...silently });
  live.work(live.queue(live.proxy.url), ({ payload }) => void handed.push(payload));
  await pause(500);
  const startMs = performance.now();
  await live.queue().add(1);
  await until("it is handled", () => handed.length > 0);
  expect(performance.now() - startMs).toBeLessThan(9000);
});

test("a listening connection that breaks is made again, and what was missed is looked for", async () => {
  const handed: unknown[] = [];
  const queue = live.queue();
  live.work(queue, ({ payload }) => void handed.push(payload));
  await pause(300);
  for (let i = 0; i < 3; i++) {
    await live.raw.call("CLIENT", "KILL", "TYPE", "pubsub");
    await queue.add(i);
  }
  await until("all are handled", () => handed.length === 3, 4000);
  expect(handed).toEqual([0, 1, 2]);
});

test("the server is out of reach, silent and then refusing: workers go on by themselves when it is back", async () => {
  const queue = live.queue();
  const handed: string[] = [];
  const errors: unknown[] = [];
  const options = { concurrency: 4, visibility: 1000 };
  const worker = live.work(live.queue(live.proxy.url, {}, 300), ({ id }) => void handed.push(id), options);
  worker.on("error", ({ error }) => errors.push(error));
  await queue.addBulk(Array.from({ length: 25 }, (_, i) => ({ payload: i, id: `${i}`, delay: 100 * i })));
  await until("it works", () => handed.length > 1);
  live.server.pause();
  await pause(900);
  live.server.resume();
  live.proxy.refuse(true);
  live.proxy.cut();
  await pause(1500);
  expect((await queue.counts()).due).toBeGreaterThan(5);
  live.proxy.refuse(false);
  await until("all are done", async () => {
    const { waiting, due, claimed } = await queue.counts();
    return waiting + due + claimed === 0;
  });
  expect([...new Set(handed)].map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, i) => i));
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toMatchObject({ name: "OrielError", transient: true });
});

test("a producer whose clock is an hour wrong: a delay is the server's, `at` is what it said", async () => {
  const queue = live.queue();
  const wrong = vi.spyOn(Date, "now").mockImplementation(() => performance.timeOrigin + performance.now() + 3_600_000);
  await queue.add("delay", { id: "delay", delay: 50 });
  await queue.add("at", { id: "at", at: Date.now() });
  wrong.mockRestore();
  const handed: unknown[] = [];
  live.work(queue, ({ payload }) => void handed.push(payload));
  await until("it is handled", () => handed.length > 0);
  expect(handed).toEqual(["delay"]);
  expect(Math.abs((await queue.get("at"))!.atMs - Date.now() - 3_600_000)).toBeLessThan(30_000);
});

test("one message due in ten minutes, another in a month, four workers: at most a command a second each", async () => {
  const queue = live.queue();
  await queue.addBulk([
    { payload: 1, delay: "10m" },
    { payload: 2, delay: "30d" },
  ]);
  let count = 0;
  for (let i = 0; i < 4; i++) live.work(live.queue(), () => count++);
  await pause(500);
  const before = await live.commands();
  await pause(3000);
  expect((await live.commands()) - before).toBeLessThanOrEqual(4 * 3);
  expect(count).toBe(0);
});

test("the reply to an add is lost: it is asked again, and added once", async () => {
  const queue = live.queue(live.proxy.url);
  await queue.add("first", { id: "first" });
  live.proxy.dropReplies(1);
  await queue.add(1, { id: "a" });
  live.proxy.dropReplies(1);
  expect(await queue.add(2)).toMatchObject({ isNew: true });
  const hasty = live.queue(live.proxy.url, {}, 200);
  live.proxy.dropReplies(5, silently);
  await expect(hasty.add(3, { id: "b" })).rejects.toMatchObject({ applied: "unknown", transient: true });
  live.proxy.dropReplies(0);
  live.proxy.cut();
  await until("it is known", () => queue.add(3, { id: "b" }).then(({ isNew }) => !isNew));
  expect((await queue.claim({ most: 10 })).map(({ payload }) => payload)).toEqual(["first", 1, 2, 3]);
});

test("100 000 due at one ms come in order of adding, and no step keeps the server for long", {
  timeout: 60_000,
}, async () => {
  const COUNT = 100_000;
  await live.raw.config("SET", "slowlog-log-slower-than", 10_000);
  await live.raw.call("SLOWLOG", "RESET");
  const queue = live.queue(undefined, {}, 20_000);
  const at = Date.now() - 1000;
  for (let from = 0; from < COUNT; from += 5000)
    await queue.addBulk(Array.from({ length: 5000 }, (_, i) => ({ payload: from + i, at })));
  let isInOrder = true;
  let next = 0;
  const worker = live.work(
    queue,
    ({ payload }) => {
      isInOrder &&= payload === next;
      next++;
    },
    { concurrency: 500 },
  );
  await until("all are handled", () => next === COUNT, 40_000);
  await worker.close();
  expect(isInOrder).toBe(true);
  expect(await queue.counts()).toMatchObject({ due: 0, claimed: 0, dead: 0 });
  const slow = (await live.raw.call("SLOWLOG", "GET", "100")) as [number, number, number, string[]][];
  const scripts = slow.filter(([, , , words]) => /eval/i.test(words[0]!));
  // A step takes some 5 ms; on a busy machine it may wait for a processor, but not grow with what is there.
  expect(scripts.filter(([, , us]) => us > 250_000)).toEqual([]);
});
