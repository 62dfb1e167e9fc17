import { describe, expect, test } from "vitest";
import type { DelayQueue, Job, QueueWorker, WorkerEvents } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";

/** A handler whose calls the test ends. */
export class Gate {
  readonly running: Job<unknown>[] = [];
  #isOpen = false;
  readonly #ends: ((error?: unknown) => void)[] = [];

  readonly handler = (job: Job<unknown>) => {
    this.running.push(job);
    if (this.#isOpen) return undefined;
    return new Promise<void>((resolve, reject) => {
      this.#ends.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  };
  get payloads(): unknown[] {
    return this.running.map(({ payload }) => payload);
  }
  end(index: number, error?: unknown): void {
    this.#ends[index]!(error);
  }
  /** The running handlers, and every started one. */
  endAll(): void {
    this.#isOpen = true;
    for (const end of this.#ends) end();
  }
}

const NAMES = ["completed", "again", "failed", "retry", "dead", "stalled", "lost", "lag", "error"] as const;

export function eventsOf(worker: QueueWorker<unknown>): [name: string, reported: unknown][] {
  const events: [string, unknown][] = [];
  for (const name of NAMES)
    worker.on(name, (reported: WorkerEvents[typeof name]) => void events.push([name, reported]));
  return events;
}

export async function fill(queue: DelayQueue<unknown>, count: number, options = {}): Promise<void> {
  await queue.addBulk(Array.from({ length: count }, (_, payload) => ({ payload, id: `${payload}`, ...options })));
}

/** The promises of a worker, over one store. */
export function workSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`work, ${name}`, () => {
    const stage = staged(open);

    test("a failed message returns after its backoff with its error, and is dead after its last delivery", async () => {
      const queue = stage().queue({ attempts: 4, backoff: { first: "1s", factor: 3, longest: "5s" } });
      const startMs = stage().nowMs;
      const seen: [attempt: number, atMs: number, lastError: unknown][] = [];
      const worker = stage().worker(queue, ({ attempt, attempts, lastError }) => {
        expect(attempts).toBe(4);
        seen.push([attempt, stage().nowMs - startMs, lastError]);
        throw new TypeError(`no ${attempt}`);
      });
      const events = eventsOf(worker);
      await queue.add("poison", { id: "a" });
      await queue.add("other", { id: "b", delay: "1h" });
      await stage().advance(60_000);
      expect(seen.map(([attempt, , lastError]) => [attempt, lastError])).toEqual([
        [1, undefined],
        [2, "TypeError: no 1"],
        [3, "TypeError: no 2"],
        [4, "TypeError: no 3"],
      ]);
      for (const [i, dueMs] of [0, 1000, 4000, 9000].entries()) {
        expect(seen[i]![1]).toBeGreaterThanOrEqual(dueMs);
        expect(seen[i]![1]).toBeLessThan(dueMs + 40);
      }
      expect(await queue.dead.list()).toMatchObject([{ id: "a", attempt: 4, lastError: "TypeError: no 4" }]);
      expect(events.map(([name]) => name).join(" ")).toBe("failed retry failed retry failed retry failed dead");
      expect(events[1]![1]).toEqual({ id: "a", attempt: 1, delayMs: 1000 });
      expect(events.at(-1)![1]).toMatchObject({ id: "a", attempt: 4, error: { message: "no 4" } });
    });

    test("the smallest limit of message, queue and worker ends the deliveries", async () => {
      const queue = stage().queue({ attempts: 3, backoff: 10 });
      const deliveries: unknown[] = [];
      const fail = (job: Job<unknown>) => {
        deliveries.push(job.payload);
        throw undefined;
      };
      const worker = stage().worker(queue, fail, { attempts: 2 });
      await queue.addBulk([{ payload: "queue" }, { payload: "once", attempts: 1 }]);
      await stage().advance(200);
      await stage().awaiting(worker.close());
      expect(deliveries.sort()).toEqual(["once", "queue", "queue"]);
      stage().worker(queue, fail, { attempts: 100 });
      await queue.addBulk([{ payload: "three" }, { payload: "four", attempts: 4 }]);
      await stage().advance(200);
      expect(deliveries.filter((each) => each === "three")).toHaveLength(3);
      expect(deliveries.filter((each) => each === "four")).toHaveLength(4);
      expect((await queue.dead.list()).map(({ lastError }) => lastError)).toEqual(Array(4).fill("failed"));
    });

    test("anything that a handler throws is a failure, even if it has no text", async () => {
      const queue = stage().queue({ attempts: 1 });
      const thrown = [Symbol("s"), Object.create(null), null, "\ud800a", { toString: () => "" }, "x".repeat(5000)];
      stage().worker(queue, ({ payload }) => {
        throw thrown[payload as number];
      });
      await fill(queue, thrown.length);
      await stage().settle();
      const why = (await queue.dead.list()).map(({ lastError }) => lastError);
      expect(why).toEqual(["Symbol(s)", "failed", "failed", "a", "failed", "x".repeat(1000)]);
    });

    test("`concurrency` handlers run at a time, and `prefetch` more messages are claimed", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler, { concurrency: 3, prefetch: 2 });
      const events = eventsOf(worker);
      await fill(queue, 10);
      await stage().settle();
      expect(gate.payloads).toEqual([0, 1, 2]);
      expect(await queue.counts()).toMatchObject({ claimed: 5, due: 5 });
      gate.end(1);
      await stage().settle();
      expect(gate.payloads).toEqual([0, 1, 2, 3]);
      expect(await queue.counts()).toMatchObject({ claimed: 5, due: 4 });
      gate.endAll();
      await stage().settle();
      expect(gate.payloads).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(events.filter(([name]) => name === "completed")).toHaveLength(10);
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 0 });
    });

    test("a message that is extended while its handler runs is delivered to no other worker", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler, { visibility: 3000 });
      const events = eventsOf(worker);
      const other = new Gate();
      stage().worker(queue, other.handler, { visibility: 3000 });
      await fill(queue, 1);
      await stage().advance(60_000);
      expect([...gate.running, ...other.running]).toHaveLength(1);
      expect([...gate.running, ...other.running][0]!.signal.aborted).toBe(false);
      gate.endAll();
      other.endAll();
      await stage().settle();
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 0, dead: 0 });
      expect(events.filter(([name]) => ["stalled", "lost", "error"].includes(name))).toEqual([]);
    });

    test("close waits for running handlers, returns messages that were not started, and claims no more", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler, { prefetch: 3, visibility: 3000 });
      await fill(queue, 6);
      await stage().settle();
      expect(await queue.counts()).toMatchObject({ claimed: 4, due: 2 });
      let isClosed = false;
      const closing = worker.close().then(() => {
        isClosed = true;
      });
      await stage().advance(20_000);
      expect(isClosed).toBe(false);
      expect(await queue.counts()).toMatchObject({ claimed: 1, due: 5 });
      gate.end(0);
      await stage().awaiting(closing);
      expect(gate.payloads).toEqual([0]);
      const rest = await queue.claim({ limit: 10 });
      expect(rest.map(({ payload, attempt }) => [payload, attempt])).toEqual([1, 2, 3, 4, 5].map((each) => [each, 1]));
      await stage().awaiting(worker.close());
      const calls = stage().calls.length;
      await stage().advance(60_000);
      expect(stage().calls).toHaveLength(calls);
      expect(stage().timers.count).toBe(0);
    });

    test("an abort of a signal closes the worker; an earlier abort lets no handler start", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      const controller = new AbortController();
      stage().worker(queue, gate.handler, { signal: controller.signal });
      await fill(queue, 3);
      await stage().settle();
      controller.abort();
      gate.endAll();
      await stage().advance(1000);
      expect(gate.payloads).toEqual([0]);
      stage().worker(queue, gate.handler, { signal: controller.signal });
      await stage().advance(10_000);
      expect(gate.payloads).toEqual([0]);
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 2 });
    });

    test.each([1, 3, 40])("no shard of several starves: concurrency %d", async (concurrency) => {
      const queue = stage().queue<unknown>({ shards: 4 });
      const order: string[] = [];
      stage().worker(queue, ({ id }) => void order.push(id), { concurrency });
      await fill(queue, 200);
      await stage().settle();
      expect(order.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i));
      await fill(queue, 4, { delay: 1000, id: undefined });
      await stage().advance(1100);
      expect(order).toHaveLength(204);
      expect(await queue.counts()).toEqual({ waiting: 0, due: 0, claimed: 0, dead: 0, isPaused: false });
    });

    test("a shard with a long backlog leaves the only handler to the others too", async () => {
      const queue = stage().queue<unknown>({ shards: 2 });
      await fill(queue, 100);
      const gate = new Gate();
      stage().worker(queue, gate.handler);
      await stage().settle();
      for (let i = 0; i < 20; i++) {
        gate.end(i);
        await stage().settle();
      }
      const shards = new Set(gate.running.slice(0, 4).map(({ id }) => id));
      expect(shards.size).toBe(4);
      const counts = await Promise.all([0, 1].map(async (i) => (await stage().censusOf(queue, i)).due));
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(100 - 2 * 8);
      expect(Math.max(...counts)).toBeLessThan(50);
      gate.endAll();
    });

    test("late claims are reported once per turn", async () => {
      const queue = stage().queue();
      await fill(queue, 5);
      await stage().advance(5000);
      const worker = stage().worker(queue, () => {}, { lagAfter: "5s", concurrency: 5 });
      const events = eventsOf(worker);
      await stage().advance(100);
      expect(events.filter(([name]) => name === "lag")).toEqual([["lag", { lateMs: 5000 }]]);
      expect(events.filter(([name]) => name === "completed")).toHaveLength(5);
      expect(events.at(-1)![1]).toEqual({ id: expect.any(String), attempt: 1, durationMs: 0 });
    });
  });
}
