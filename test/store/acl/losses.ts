import type { Redis } from "ioredis";
import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  fixedWindow,
  Limiter,
  Lock,
  LockedWindow,
  OrielError,
  Semaphore,
  Series,
} from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { until } from "../../harness/until.ts";

/** A call of each structure. Each needs rights to its keys, and to read and write them. */
const CALLS: Record<string, (store: Store, name: string) => Promise<unknown>> = {
  async Series(store, name) {
    const series = new Series(store, name);
    await series.record(1);
    await series.stats({ span: "1m" });
    await series.close();
  },
  Limiter: (store, name) => new Limiter(store, [fixedWindow({ limit: 9, span: "1m" })], { name }).take("a"),
  Lock: async (store, name) => (await new Lock(store, name).tryLock())!.release(),
  async "Lock, waiting"(store, name) {
    const lock = new Lock(store, name);
    const held = await lock.tryLock();
    const next = lock.tryLock({ wait: "60s" });
    next.catch(() => {}); // a release that fails is reported first
    await held!.release();
    await (await next)!.release();
  },
  Semaphore: async (store, name) => (await new Semaphore(store, name, { limit: 2 }).acquire({ wait: "60s" })).release(),
  LockedWindow: (store, name) => new LockedWindow(store, name, { span: "1m" }).addAndGetStats(1),
  async Counters(store, name) {
    const counters = new Counters(store, name, { dimensions: ["a"], shards: 1 });
    await counters.add({ a: "1" });
    await counters.read();
  },
  DelayQueue: (store, name) => new DelayQueue(store, name).add("hello"),
  async Breaker(store, name) {
    const breaker = new Breaker(store, { name, span: "1m", failures: 9, minimumCalls: 2, cooldown: 50, flush: 1 });
    await breaker.run(async () => 1);
    await breaker.flush();
    await breaker.close();
  },
  async FleetMetrics(store, name) {
    const fleet = new FleetMetrics(store, name);
    fleet.metric("a").recordSuccess(1);
    await fleet.flush();
    await fleet.close();
  },
};

/** The structures whose call failed, as their errors say. */
export async function failuresOf(store: Store, name: string): Promise<string[]> {
  const ended = Object.entries(CALLS).map(async ([structure, call]) => {
    try {
      await call(store, `${name} ${structure}`);
      return [];
    } catch (error) {
      return [`${structure}: ${error instanceof OrielError ? error.code : String(error)}`];
    }
  });
  return (await Promise.all(ended)).flat();
}

/** Which messages do not arrive, or still arrive after their subscription has ended. `why` of a refusal, if there is one. */
export async function lostMessages(
  store: Store,
  own: Redis,
  name: string,
  why: () => string | undefined,
  patienceMs: number,
): Promise<string[]> {
  const lost: string[] = [];
  const channels = {
    Lock: `oriel:{${name}}:lock:1`,
    DelayQueue: `due:oriel:{${name}}:times`,
  };
  for (const [structure, channel] of Object.entries(channels)) {
    const heard: (string | undefined)[] = [];
    const end = store.subscribe?.(channel, (message) => heard.push(message));
    await until("an answer", () => heard.length > 0 || why() !== undefined);
    if (why()) return [...lost, `${structure}: ${why()}`];
    await own.publish(channel, "hello");
    await until("a message", () => heard.includes("hello"));
    end!();
    const subscribers = async () => Number(((await own.pubsub("NUMSUB", channel)) as unknown[])[1]);
    await until("the end", async () => (await subscribers()) === 0, patienceMs).catch(() => {
      lost.push(`${structure}: still subscribed`);
    });
  }
  return lost;
}

/** Which releases other processes do not hear. */
export async function lostNotices(
  store: Store,
  another: Store,
  own: Redis,
  name: string,
  patienceMs: number,
): Promise<string[]> {
  const heard = new Set<string>();
  const listener = own.duplicate();
  await listener.psubscribe("oriel:*", "due:*");
  listener.on("pmessage", (_pattern: string, channel: string) => heard.add(channel));
  const giveUp = new AbortController();
  const held = await new Lock(store, name).tryLock();
  const waiting = new Lock(another, name).tryLock({ wait: "60s", signal: giveUp.signal });
  waiting.catch(() => {});
  const queue = new Lock(another, name);
  await until("a place", async () => (await queue.inspect()).waitingProcesses === 1);
  await held!.release();
  await new DelayQueue(store, name).add("hello");
  const wanted = [/^oriel:.*:lock:/, /^due:oriel:/];
  const missing = () => wanted.filter((each) => ![...heard].some((it) => it.includes(`{${name}`) && each.test(it)));
  await until("the notices", () => missing().length === 0, patienceMs).catch(() => {});
  giveUp.abort();
  listener.disconnect();
  return missing().map((each) => `not heard: ${each.source}`);
}
