import { setTimeout as pause } from "node:timers/promises";
import type { OrielError } from "../../../src/base/errors.ts";
import { DelayQueue } from "../../../src/queue/delay-queue.ts";
import type { Store } from "../../../src/store/contract.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { Random } from "../../simulator/world/random.ts";
import type { Note, Orders } from "./notes.ts";
import { watchedStore } from "./watched-store.ts";

const DEADLINE_MS = 250;

export interface Actor {
  /** Lets it finish: a producer has all of its messages accepted, a worker is closed. */
  end(): Promise<void>;
}

type Report = (note: Note) => void;

export function act(orders: Orders, report: Report): Actor {
  const store = redisStore(orders.url, { deadline: DEADLINE_MS });
  const actor = orders.messages === undefined ? work(orders, store, report) : produce(orders, store, report);
  return {
    async end() {
      await actor.end();
      await store.close();
    },
  };
}

/** Asks again, under the same ids, until all is accepted. */
function produce({ name, queue: queueName, options, seed, messages = 0 }: Orders, store: Store, report: Report): Actor {
  const random = new Random(seed);
  const queue = new DelayQueue(store, queueName, options);
  const isTransient = (error: OrielError) => {
    if (!error.transient) report({ what: "wrong", why: `add: ${error}` });
    return false;
  };
  const producing = (async () => {
    for (let added = 0; added < messages; ) {
      await pause(random.int(0, 25));
      const count = Math.min(random.pick([1, 1, 1, 4]), messages - added);
      const some = Array.from({ length: count }, (_, i) => ({
        payload: added + i,
        id: `${name}-${added + i}`,
        delay: random.pick([0, 0, 5, 60, 300]),
        priority: random.pick([0, 0, 7]),
      }));
      while (!(await queue.addBulk(some).then(() => true, isTransient))) await pause(random.int(1, 20));
      for (const { id } of some) report({ what: "accepted", id });
      added += count;
    }
  })();
  return { end: () => producing };
}

function work(
  { queue, options, seed, worker: settings = { visibility: 300 }, isCalm }: Orders,
  store: Store,
  report: Report,
) {
  const random = new Random(seed);
  const worker = new DelayQueue(watchedStore(store, report), queue, options).process(async ({ id, attempt }) => {
    report({ what: "began", id, attempt });
    const workMs = isCalm ? 0 : random.pick([0, 0, 2, 10, 50, 2 * settings.visibility]);
    if (workMs > 0) await pause(workMs);
    const isGood = isCalm === true || random.chance(0.85);
    report({ what: "handled", id, attempt, isGood });
    if (!isGood) throw new Error("no luck");
  }, settings);
  for (const status of ["completed", "retry", "dead", "lost"] as const)
    worker.on(status, ({ id, attempt }) => report({ what: "reported", id, attempt, status }));
  worker.on("error", ({ error }) => {
    if (!(error as OrielError).transient) report({ what: "wrong", why: `unexpected error ${error}` });
  });
  return { end: () => worker.close() };
}
