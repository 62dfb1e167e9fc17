import { setTimeout as pause } from "node:timers/promises";
import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  Limiter,
  Lock,
  LockedWindow,
  Series,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { sqliteSink } from "../../../src/entries/sql.ts";
import type { WatchedStore } from "../../../src/store/contract.ts";
import { Sqlite } from "../../drain/sql/clients.ts";
import { optionsOf } from "../../matrix/structures.ts";
import type { Random } from "../../simulator/world/random.ts";
import type { Books } from "../books.ts";
import { LEASE_MS, LIMIT, machineMs, type Orders, type Span } from "./orders.ts";

/** One process's part of one structure. */
interface Share {
  books: Books<string | number>;
  notes: Record<string, unknown>;
  act(): Promise<unknown>;
  end?(): Promise<unknown>;
}

interface Part {
  store: WatchedStore;
  random: Random;
  orders: Orders;
}

type Make = (part: Part, modes: object, books: Books<string | number>) => Omit<Share, "books">;

/** No two processes draw the same value. */
function numbersOf({ orders }: Part): () => number {
  let drawn = orders.id * 1_000_000;
  return () => ++drawn;
}

export const SHARES: Record<string, Make> = {
  series(part, modes, books) {
    const options = { retention: "10m", ...modes, values: "float64" } as const;
    const series = new Series(part.store, "s", options);
    const next = numbersOf(part);
    const notes = { givenUp: 0 };
    part.store.on("error", ({ count }) => (notes.givenUp += count));
    return {
      notes,
      act() {
        const value = next();
        return books.call<unknown>(value, part.random.chance(0.3) ? series.recordAndGet(value) : series.record(value));
      },
      end: () => series.close(),
    };
  },
  lockedWindow(part, modes, books) {
    const window = new LockedWindow(part.store, "w", { span: "10m", wait: "1s", lease: LEASE_MS, ...modes });
    const next = numbersOf(part);
    return { notes: {}, act: () => books.call(next(), window.addAndGetStats(1)) };
  },
  limiter(part, modes, books) {
    const limiter = new Limiter(part.store, [slidingWindow({ limit: LIMIT, span: "1h" })], {
      name: "l",
      ...optionsOf("limiter", { ...modes }),
    });
    const next = numbersOf(part);
    const notes = { allowed: 0, unsure: 0 };
    return {
      notes,
      async act() {
        const key = next();
        const requestId = part.random.chance(0.5) ? { requestId: `r${key}` } : {};
        const decision = await books.call(key, limiter.take("id", requestId));
        if (decision?.degraded || books.unknown.has(key)) notes.unsure++;
        else if (decision?.allowed) notes.allowed++;
      },
    };
  },
  lock(part, modes, books) {
    const lock = new Lock(part.store, "l", modes);
    const next = numbersOf(part);
    const held: Span[] = [];
    const hold = () =>
      lock.withLock(
        async (grant) => {
          const untilMs = machineMs() + part.random.int(0, 30);
          const span = { key: grant.fence, fromMs: Number.NaN, toMs: Number.NaN };
          do {
            // Taken before the query: a hold that is valid at the query was valid then.
            const atMs = machineMs();
            if (grant.leftMs <= 0) break;
            if (Number.isNaN(span.fromMs)) span.fromMs = atMs;
            span.toMs = atMs;
            await pause(1);
          } while (machineMs() < untilMs);
          if (!Number.isNaN(span.fromMs)) held.push(span);
        },
        { wait: 200, lease: LEASE_MS },
      );
    return { notes: { held }, act: () => books.call(next(), hold()) };
  },
  breaker(part, _modes, books) {
    const breaker = new Breaker(part.store, { name: "b", span: "1s", failures: 5, cooldown: 50, lease: LEASE_MS });
    return {
      notes: {},
      async act() {
        const isBad = part.random.chance(0.2);
        const run = () => (isBad ? Promise.reject(new RangeError("bad")) : Promise.resolve("good"));
        const ended = await breaker.run(run).catch((error) => error.code ?? error.message);
        if (ended !== "OPEN" && ended !== (isBad ? "bad" : "good")) books.wrong(`a call ended with ${ended}`);
      },
    };
  },
  counters(part, modes, books) {
    const counters = new Counters(part.store, "c", { dimensions: ["id"], ...modes });
    const next = numbersOf(part);
    return {
      notes: {},
      act() {
        const id = `n${next()}`;
        return books.call(id, counters.add({ id }));
      },
      end: () => counters.close(),
    };
  },
  drain(part, modes, books) {
    const database = new Sqlite(part.orders.database);
    database.exec("PRAGMA busy_timeout = 5000");
    const { sink: _, ...options } = modes as { sink: string };
    const counters = new Counters(part.store, "d", { dimensions: ["id"], shards: 4 });
    const lock = new Lock(part.store, "drain", { watchdogLease: LEASE_MS });
    const service = new DrainService({ counters, sink: sqliteSink(database), lock, ...options });
    const next = numbersOf(part);
    const notes: { diverged: unknown[] } = { diverged: [] };
    service.on("diverged", (reported) => notes.diverged.push(reported));
    return {
      notes,
      async act() {
        if (part.random.chance(0.1)) return service.drainOnce().catch(() => {});
        const id = `n${next()}`;
        return books.call(id, counters.add({ id }));
      },
      async end() {
        await service.stop();
        await counters.close();
        database.close();
      },
    };
  },
  queue(part, modes, books) {
    const queue = new DelayQueue<number>(part.store, "q", { shards: 2, attempts: 100, ...modes });
    const next = numbersOf(part);
    const delivered: Span[] = [];
    const done: Span[] = [];
    const add = () => {
      const [id, delay] = [`m${next()}`, part.random.int(0, 200)];
      return books.call(id, queue.add(Date.now() + delay, { id, delay }));
    };
    const work = async () => {
      const askedMs = machineMs();
      const messages = await queue.claim({ limit: 5, visibility: LEASE_MS }).catch(() => []);
      for (const { id, payload } of messages) {
        delivered.push({ key: id, fromMs: askedMs, toMs: machineMs() });
        if (payload - Date.now() > 1) books.wrong(`${id} came ${payload - Date.now()} ms early`);
      }
      for (const message of messages)
        if (await queue.ack(message).catch(() => false))
          done.push({ key: message.id, fromMs: askedMs, toMs: machineMs() });
    };
    return { notes: { delivered, done }, act: () => (part.random.chance(0.6) ? add() : work()) };
  },
  fleet(part, modes, books) {
    const fleet = new FleetMetrics(part.store, "f", { sampleCount: 60, interval: "1h", flush: 50, ...modes } as const);
    const notes = { added: 0, late: 0 };
    fleet.on("late", ({ events }) => (notes.late += events));
    let flushes = 0;
    return {
      notes,
      async act() {
        const count = part.random.int(1, 3);
        notes.added += count;
        fleet.metric("pay").addSuccess(count);
        if (part.random.chance(0.3)) await books.call(++flushes, fleet.flush());
      },
      end: () => fleet.close(),
    };
  },
};
