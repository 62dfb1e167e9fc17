import { tracingChannel } from "node:diagnostics_channel";
import { afterEach, expect, test } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  fixedWindow,
  Limiter,
  Lock,
  LockedWindow,
  MultiSemaphore,
  memoryStore,
  ReadWriteLock,
  Semaphore,
  Series,
} from "../../src/entries/index.ts";
import { until } from "../harness/until.ts";

interface Message {
  structure: string;
  structureName?: string;
  operation?: string;
  result?: unknown;
  error?: Error;
}

/** The published messages since `listen`, in order. */
let published: [event: string, message: Message][] = [];
const record = (event: string) => (message: unknown) => void published.push([event, { ...(message as Message) }]);
const subscribers = {
  start: record("start"),
  end: record("end"),
  asyncStart: record("asyncStart"),
  asyncEnd: record("asyncEnd"),
  error: record("error"),
};
const channel = tracingChannel("oriel:call");
const listen = () => {
  published = [];
  channel.subscribe(subscribers);
};
afterEach(() => channel.unsubscribe(subscribers));

const callsAt = (event: string) =>
  published.flatMap(([each, { structure, operation }]) => (each === event ? [`${structure} ${operation}`] : []));

const hourly = [fixedWindow({ limit: 1, span: "1h" })];

test("a call is published when it begins, and when it has ended, with its result or the error of its caller", async () => {
  const limiter = new Limiter(memoryStore(), hourly, { name: "logins" });
  listen();
  const decision = await limiter.take("ada");
  const error: Error = await limiter.take(7 as never).catch((error) => error);
  channel.unsubscribe(subscribers);
  await limiter.take("ada");
  const call = { structure: "Limiter", structureName: "logins", operation: "take", address: "memory" };
  const events = published.map(([event, { structure, structureName, operation }]) => {
    expect({ structure, structureName, operation, address: "memory" }).toEqual(call);
    return event;
  });
  const order = ["start", "end", "asyncStart", "asyncEnd"];
  expect(events).toEqual([...order, "start", "end", "error", "asyncStart", "asyncEnd"]);
  expect(published[3]![1].result).toBe(decision);
  expect(published.at(-1)![1].error).toBe(error);
  expect(error.message).toMatch(/^Limiter "logins" take: id is 7/);
});

test("a call that calls another structure is published around it", async () => {
  const window = new LockedWindow(memoryStore(), "w", { span: "1m" });
  listen();
  await window.addAndGetStats(1);
  expect(callsAt("start").slice(0, 2)).toEqual(["LockedWindow addAndGetStats", "Lock tryLock"]);
  expect(callsAt("asyncEnd").at(-1)).toBe("LockedWindow addAndGetStats");
});

test("a worker publishes the run of its handler", async () => {
  const queue = new DelayQueue<string>(memoryStore(), "mails");
  await queue.add("hello");
  listen();
  const worker = queue.process(() => {
    throw new Error("no");
  });
  await until("the handler has run", () => callsAt("asyncEnd").includes("QueueWorker handle"));
  await worker.close();
  expect(published.find(([event]) => event === "error")![1].error!.message).toBe("no");
});

const store = memoryStore();
const made: Record<string, () => object> = {
  Breaker: () => new Breaker(store, { name: "a", span: "10s", failures: 3 }),
  Counters: () => new Counters(store, "a", { dimensions: ["page"] }),
  DelayQueue: () => new DelayQueue(store, "a"),
  DrainService: () => {
    const sink = { apply: async () => {}, ledger: async () => [] };
    return new DrainService({ counters: new Counters(store, "b", { dimensions: ["page"] }), sink: sink as never });
  },
  FleetMetrics: () => new FleetMetrics(store, "a"),
  Limiter: () => new Limiter(store, hourly, { name: "a" }),
  Lock: () => new Lock(store, "a"),
  LockedWindow: () => new LockedWindow(store, "a", { span: "1m" }),
  ReadWriteLock: () => new ReadWriteLock(store, "b").read,
  MultiSemaphore: () => new MultiSemaphore(store, "b", { limit: 2 }),
  Semaphore: () => new Semaphore(store, "a", { limit: 100 }),
  Series: () => new Series(store, "a"),
};

test.each(Object.entries(made))("each method of %s that returns a promise is published", async (_name, make) => {
  const silent: string[] = [];
  let count = 0;
  for (const operation of Object.getOwnPropertyNames(Object.getPrototypeOf(make()))) {
    const structure = make() as Record<string, unknown>;
    const descriptor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(structure), operation)!;
    if (operation === "constructor" || typeof descriptor.value !== "function") continue;
    listen();
    let returned: unknown;
    try {
      // Without arguments: most reject.
      returned = (structure[operation] as () => unknown)();
    } catch {
      continue;
    }
    if (!(returned instanceof Promise)) continue;
    await returned.catch(() => {});
    channel.unsubscribe(subscribers);
    count++;
    // A method of one side of a lock is `read.tryLock`.
    if (!callsAt("start")[0]?.endsWith(operation)) silent.push(operation);
  }
  expect(silent).toEqual([]);
  expect(count).toBeGreaterThan(1);
});

test("a call runs once, even if a listener's run returns nothing", async () => {
  const start = (message: object) => {
    Object.assign(message, { run: (call: () => Promise<unknown>) => void call() });
  };
  const listener = { ...subscribers, start };
  const limiter = new Limiter(memoryStore(), [fixedWindow({ limit: 5, span: "1h" })], { name: "api" });
  channel.subscribe(listener);
  await limiter.take("ada");
  channel.unsubscribe(listener);
  expect((await limiter.peek("ada")).remaining).toBe(4);
});
