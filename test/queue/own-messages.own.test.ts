import { afterEach, beforeEach, expect, test } from "vitest";
import { DelayQueue, type Job, memoryStore, type QueueWorker } from "../../src/entries/index.ts";
import { until } from "../harness/until.ts";

const warnings: string[] = [];
const onWarning = (warning: Error) => void warnings.push(warning.message);
beforeEach(() => void process.on("warning", onWarning));
afterEach(() => {
  process.off("warning", onWarning);
  warnings.length = 0;
});

const WARNED =
  /^DelayQueue "mail" (add|reschedule): the message "poll-42" was in its handler, .* job\.again\(\{ delay \}\)/;

type Queue = DelayQueue<number>;
const again = (queue: Queue) => queue.add(1, { id: "poll-42", delay: 5 });

/** Runs the handler of one message until it is done, and returns the warnings of the process. */
async function warningsOf(
  options: { dedupeFor?: number },
  inHandler: (queue: Queue, job: Job<number>) => unknown,
  onCompleted: (queue: Queue) => unknown = () => {},
  isGone = true,
): Promise<string[]> {
  const store = memoryStore();
  const queue: Queue = new DelayQueue(store, "mail", options);
  let completions = 0;
  const worker: QueueWorker<number> = queue.process((job) => inHandler(queue, job));
  worker.on("completed", async () => {
    completions++;
    if (completions === 1) await onCompleted(queue);
  });
  await queue.add(1, { id: "poll-42" });
  await until("the message is done", () => completions > 0);
  if (isGone) await until("it is gone", async () => (await queue.get("poll-42")) === undefined);
  await worker.close();
  await store.close();
  await new Promise((resolve) => setTimeout(resolve, 0));
  return [...warnings];
}

test.each([
  ["adds it", (queue: Queue) => again(queue)],
  ["adds it in bulk", (queue: Queue) => queue.addBulk([{ payload: 1, id: "poll-42" }])],
  ["adds it and does not wait", (queue: Queue) => void again(queue)],
  ["reschedules it", (queue: Queue) => queue.reschedule("poll-42", { delay: 5 })],
  ["cancels and adds it", async (queue: Queue) => [await queue.cancel("poll-42"), await again(queue)]],
  ["adds it many times", (queue: Queue) => Promise.all([again(queue), again(queue), again(queue)])],
])("a handler that %s would stop in silence: the process is warned once", async (_what, inHandler) => {
  for (const dedupeFor of [0, 60_000]) {
    const found = await warningsOf({ dedupeFor }, inHandler);
    expect(found).toEqual([expect.stringMatching(WARNED)]);
    warnings.length = 0;
  }
});

test("so would a listener of `completed` that adds it while its id is known; with dedupeFor 0 it comes again", async () => {
  expect(await warningsOf({}, () => {}, again)).toEqual([expect.stringMatching(WARNED)]);
  warnings.length = 0;
  let runs = 0;
  expect(await warningsOf({ dedupeFor: 0 }, () => void runs++, again, false)).toEqual([]);
});

test("other calls cause no warning: other ids, cancel, a handler that calls again, an id that is not in a handler", async () => {
  const others = async (queue: Queue, job: Job<number>) => {
    await queue.add(2, { id: "other", delay: "1h" });
    await queue.add(2, { id: "other", delay: "1h" });
    await queue.reschedule("none", { delay: 5 });
    await queue.cancel(job.id);
  };
  expect(await warningsOf({}, others)).toEqual([]);
  let runs = 0;
  const polling = async (job: Job<number>) => {
    if (++runs > 1) return;
    await again(queue);
    job.again({ delay: 1 });
  };
  const store = memoryStore();
  const queue: Queue = new DelayQueue(store, "mail");
  const worker = queue.process(polling);
  await again(queue);
  await again(queue);
  await until("it has come again", () => runs === 2);
  await worker.close();
  await store.close();
  expect(warnings).toEqual([]);
});

test("once and again exclude each other in one delivery, whichever is called first", async () => {
  const store = memoryStore();
  const queue = new DelayQueue<string>(store, "mail", { attempts: 1 });
  const worker = queue.process(async (job) => {
    const transaction = undefined as never;
    if (job.payload === "again") job.again({ delay: "1h" });
    await expect(job.once(transaction)).rejects.toMatchObject({ code: "ARGUMENT" });
    if (job.payload === "once") job.again({ delay: "1h" });
    await job.once(transaction);
  });
  const dead: string[] = [];
  worker.on("dead", ({ id, error }) => void dead.push(`${id}: ${error}`));
  await queue.addBulk(["again", "once"].map((payload) => ({ payload, id: payload })));
  await until("both have failed", () => dead.length === 2);
  const why = "once and again exclude each other: after the row of once, each later delivery would do nothing";
  expect(dead.sort()).toEqual([
    `again: OrielError: Job "again" once: ${why}`,
    `once: OrielError: Job "once" again: ${why}`,
  ]);
  await worker.close();
  await store.close();
});

test("results of messages that come again travel with at most 1 MiB, or one larger message", async () => {
  const store = memoryStore();
  const sent: number[][] = [];
  const run: typeof store.run = (operation, key, input, options) => {
    const { settlements = [] } = input as { settlements?: { verb: string; sizeBytes: number }[] };
    const sizes = settlements.filter(({ verb }) => verb === "again").map(({ sizeBytes }) => sizeBytes);
    if (sizes.length > 0) sent.push(sizes);
    return store.run(operation, key, input, options);
  };
  const queue = new DelayQueue<string>({ ...store, run }, "mail");
  await queue.addBulk(Array.from({ length: 12 }, () => ({ payload: "x".repeat(400_000) })));
  let open!: () => void;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let started = 0;
  const worker = queue.process(
    async (job) => {
      started++;
      await gate;
      job.again({ delay: "1h" });
    },
    { concurrency: 12 },
  );
  await until("all are in handlers", () => started === 12);
  open();
  await until("all wait again", async () => (await queue.counts()).waiting === 12);
  expect(sent.flat()).toHaveLength(12);
  expect(Math.max(...sent.map((sizes) => sizes.length))).toBe(2);
  await worker.close();
  await store.close();
});
