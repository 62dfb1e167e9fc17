import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { Counters, DelayQueue, DrainService, FleetMetrics } from "../../src/entries/index.ts";
import type { Actor, Part } from "./actors.ts";
import { answered, Books } from "./books.ts";
import { databases } from "./databases.ts";

export function queueActor({ stores, random, modes, clock }: Part): Actor {
  const books = new Books<string>("queue");
  const queues = stores.map((store) => new DelayQueue<number>(store, "q", { shards: 2, attempts: 100, ...modes }));
  const dueMs = new Map<string, number>();
  const delivered = new Set<string>();
  const done = new Set<string>();
  let drawn = 0;
  const add = (queue: DelayQueue<number>) => {
    const [id, delay] = [`m${++drawn}`, random.int(0, 200)];
    dueMs.set(id, clock.nowMs() + delay);
    return books.call(id, queue.add(0, { id, delay }));
  };
  const work = async (queue: DelayQueue<number>) => {
    const messages = await queue.claim({ limit: 5, visibility: 300 }).catch(() => []);
    for (const { id } of messages) {
      delivered.add(id);
      const earlyMs = dueMs.get(id)! - clock.nowMs();
      if (!clock.isStepped && earlyMs > 1) books.wrong(`${id} came ${earlyMs} ms early`);
      if (done.has(id)) books.wrong(`${id} came again after it was done`);
    }
    for (const message of messages) if (await queue.ack(message).catch(() => false)) done.add(message.id);
    return messages.length;
  };
  return {
    violations: books.violations,
    act: () => (random.chance(0.6) ? add : work)(random.pick(queues)),
    async settle() {
      const left = async () => {
        const { waiting, due, claimed } = await answered(() => queues[0]!.counts());
        return waiting + due + claimed;
      };
      for (let i = 0; i < 200 && (await left()) > 0; i++) if ((await work(queues[i % 2]!)) === 0) await pause(20);
      books.settle([...delivered]);
    },
  };
}

export function fleetActor({ stores, random, modes, clock }: Part): Actor {
  const books = new Books("fleet");
  const shape = { sampleCount: 60, interval: "1h", flush: 50, ...modes } as const;
  const fleet = stores.map((store) => new FleetMetrics(store, "f", shape));
  let added = 0;
  let flushes = 0;
  let late = 0;
  for (const each of fleet) each.on("late", ({ events }) => (late += events));
  return {
    violations: books.violations,
    async act() {
      const count = random.int(1, 3);
      added += count;
      const one = random.pick(fleet);
      one.metric("pay").addSuccess(count);
      if (random.chance(0.3)) await books.call(++flushes, one.flush());
    },
    async settle() {
      for (const each of fleet) await answered(() => each.close());
      const success = (await answered(() => new FleetMetrics(stores[0]!, "f", shape).read("pay"))).success(
        clock.nowMs(),
      );
      if (success !== added || late > 0)
        books.wrong(`${success} are counted of ${added}; ${late} are reported as late`);
    },
  };
}

/** Two processes count and drain at once, without a lock. Table and store together have each count once. */
export async function drainActor({ stores, random, modes }: Part): Promise<Actor> {
  const books = new Books<string>("drain");
  const { sink: name, ...options } = modes as { sink: string };
  const sink = await databases.sink(name);
  const counters = stores.map((store) => new Counters(store, "d", { dimensions: ["id"], shards: 4 }));
  const services = counters.map((each) => new DrainService({ counters: each, sink, ...options }));
  const read = () => counters[0]!.read({ bucket: "day", table: sink });
  let drawn = 0;
  const failures: string[] = [];
  for (const service of services)
    for (const event of ["error", "diverged", "recovered"] as const)
      service.on(event, (reported) => void failures.push(`${event} ${inspect(reported, { depth: 4 })}`));
  await sink.createTables(counters[0]!.shape);
  return {
    violations: books.violations,
    async act() {
      if (random.chance(0.2)) return books.call("", random.pick(services).drainOnce());
      const id = `n${++drawn}`;
      return books.call(id, random.pick(counters).add({ id }));
    },
    async settle() {
      books.acknowledged.delete("");
      const rows = await answered(read);
      const idsOf = (found: typeof rows) =>
        found.flatMap(({ values, count }) => Array.from({ length: Number(count) }, () => values.id));
      books.settle(idsOf(rows));
      let left = 1;
      for (let i = 0; i < 20 && left > 0; i++) {
        const { failed, diverged } = await answered(() => services[0]!.drainOnce());
        left = failed + diverged;
        if (left > 0) await pause(50);
      }
      if (left > 0) books.wrong(`${left} shards are not drained: ${failures.slice(-3).join("; ")}`);
      books.settle(idsOf(await answered(read)));
    },
  };
}
