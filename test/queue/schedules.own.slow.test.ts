import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DelayQueue, type Job, memoryStore, type OrielError, type QueueWorker } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { seeds } from "../harness/seeds.ts";
import { unreliableStore, type Weather } from "../lock/faults/unreliable-store.ts";
import { Random } from "../simulator/world/random.ts";

const { first, count } = seeds(40);

const VISIBILITY_MS = 1500;
const MESSAGES = 60;
/** A lost claim is not announced. Its message lapses, and the next poll finds it. */
const LONGEST_END_MS = 300_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

interface Holder {
  job: Job<unknown>;
  store: { isCut: boolean };
  isRunning: boolean;
}

/**
 * One schedule. Producers and workers are behind a bad network. Workers die, are paused with their process, or are closed.
 * The server is silent, then refuses. At the end all is calm, and new workers do the rest.
 */
async function play(seed: number) {
  const random = new Random(seed);
  const violations: string[] = [];
  const check = (holds: boolean, what: string) => holds || violations.push(`seed ${seed}: ${what}`);
  const bad = random.pick([0, 0.02, 0.1, 0.2]);
  const weather: Weather = {
    ...{ lostRequest: bad, lostReply: bad, repeated: 0, silentUntilMs: 0, refusingUntilMs: 0 },
    lostNews: random.pick([0, 0.1, 1]),
    slowMs: random.pick([1, 5, 30]),
  };
  const server = memoryStore({ clock: Date.now });
  const options = { shards: random.pick([1, 1, 3]), attempts: random.pick([3, 100]), backoff: random.pick([0, 40]) };
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  /** Of each message: whether it was accepted for sure, its holders, and whether a handler of it came to its end. */
  const accepted = new Set<string>();
  const holders = new Map<string, Holder[]>();
  const succeeded = new Set<string>();
  let deliveries = 0;

  /** A process's store; cut, nothing of it reaches the server any more, and nothing it. */
  function processStore() {
    const inner = unreliableStore(server, weather, random.fork());
    const cut = { isCut: false };
    const store: Store = {
      ...inner,
      run: (...call) => (cut.isCut ? new Promise<never>(() => {}) : inner.run(...call)),
      subscribe: (channel, listener) => inner.subscribe!(channel, (reported) => cut.isCut || listener(reported)),
    };
    return Object.assign(cut, { store });
  }

  function work(draw: Random, isCalm = false): { worker: QueueWorker<unknown>; cut: { isCut: boolean } } {
    const cut = processStore();
    const handler = async (job: Job<unknown>) => {
      deliveries++;
      const all = holders.get(job.id) ?? [];
      holders.set(job.id, all);
      const others = all.filter((each) => each.isRunning && !each.store.isCut && !each.job.signal.aborted);
      check(
        others.length === 0,
        `message ${job.id} is held twice: ${others.map((each) => each.job.attempt)}, ${job.attempt}`,
      );
      check(!job.signal.aborted, `message ${job.id} began when it was lost`);
      check(job.attempt <= job.attempts, `message ${job.id}: delivery ${job.attempt} of ${job.attempts}`);
      const holder = { job, store: cut, isRunning: true };
      all.push(holder);
      await sleep(draw.pick([0, 1, 20, 200, isCalm ? 0 : 4000]));
      holder.isRunning = false;
      if (!isCalm && draw.chance(0.2)) throw new Error("no luck");
      succeeded.add(job.id);
    };
    const chosen = { concurrency: draw.pick([1, 2, 8]), prefetch: draw.pick([0, 3]), visibility: VISIBILITY_MS };
    const worker = new DelayQueue(cut.store, "mail", options).process(handler, chosen);
    worker.on("error", ({ error }) => check((error as OrielError).transient === true, `unexpected error ${error}`));
    return { worker, cut };
  }

  async function produce(draw: Random, name: string): Promise<void> {
    const queue = new DelayQueue(processStore().store, "mail", options);
    for (let i = 0; i < MESSAGES / 2; i++) {
      await sleep(draw.int(0, 60));
      const id = `${name}${i}`;
      for (let isAccepted = false; !isAccepted; await sleep(10))
        isAccepted = await queue
          .add(i, { id, delay: draw.pick([0, 5, 300, 2000]), priority: draw.pick([0, 0, 7]) })
          .then(
            () => true,
            () => false,
          );
      accepted.add(id);
    }
  }

  const workers = [work(random.fork()), work(random.fork()), work(random.fork())];
  const closings: Promise<void>[] = [];
  const trouble = async () => {
    for (let i = 0; i < 6; i++) {
      await sleep(random.int(100, 1500));
      const index = random.int(0, workers.length - 1);
      const what = random.pick(["kill", "close", "silence", "refusal", "none"]);
      if (what === "silence") weather.silentUntilMs = Date.now() + random.int(100, 2500);
      if (what === "refusal") weather.refusingUntilMs = Date.now() + random.int(100, 2500);
      if (what === "kill") workers[index]!.cut.isCut = true;
      if (what === "close") closings.push(workers[index]!.worker.close());
      if (what === "kill" || what === "close") workers[index] = work(random.fork());
    }
  };
  const produced = Promise.all([produce(random.fork(), "a"), produce(random.fork(), "b")]);
  await Promise.all([produced, trouble()]);
  for (const { worker } of workers) closings.push(worker.close());
  await Promise.all(closings);

  Object.assign(weather, { lostRequest: 0, lostReply: 0, lostNews: 0, silentUntilMs: 0, refusingUntilMs: 0 });
  const last = work(random.fork(), true).worker;
  const queue = new DelayQueue(server, "mail", options);
  const endMs = Date.now() + LONGEST_END_MS;
  for (;;) {
    const { waiting, due, claimed } = await queue.counts();
    if (waiting + due + claimed === 0) break;
    if (Date.now() > endMs) {
      check(false, `${waiting} wait, ${due} are due, ${claimed} claimed`);
      break;
    }
    await sleep(100);
  }
  await last.close();
  const dead = new Set((await queue.dead.list({ limit: 1000 })).map(({ id }) => id));
  for (const id of accepted) {
    check(succeeded.has(id) || dead.has(id), `message ${id} is lost`);
  }
  check(accepted.size === MESSAGES, `${accepted.size} accepted`);
  return { violations, deliveries, handled: succeeded.size, dead: dead.size };
}

test(`${count} schedules: no accepted message is lost, and no two workers believe that they hold the same one`, async () => {
  const sums = { deliveries: 0, handled: 0, dead: 0 };
  const violations: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    let played: Awaited<ReturnType<typeof play>> | undefined;
    const playing = play(seed).then((result) => {
      played = result;
    });
    while (!played) await Promise.race([playing, vi.advanceTimersByTimeAsync(50)]);
    violations.push(...played.violations);
    for (const name of ["deliveries", "handled", "dead"] as const) sums[name] += played[name];
    vi.clearAllTimers();
  }
  expect(violations).toEqual([]);
  expect(sums.handled + sums.dead).toBeGreaterThan(count * MESSAGES * 0.9);
  if (count >= 20) expect(sums.deliveries).toBeGreaterThan(count * MESSAGES);
}, 600_000);
