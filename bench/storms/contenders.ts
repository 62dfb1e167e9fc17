/**
 * The work of a process of the storm, by job and contender. Each is used as its documentation asks, with leases of a second. A process
 * that is killed says nothing more.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { Breaker, DelayQueue, Limiter, Lock, OrielError, redisStore, slidingWindow } from "../../src/entries/index.ts";
import type { Entry } from "./judge.ts";

/** The process of a contender. */
export interface Stage {
  readonly url: string;
  /** Writes a line of the journal before it returns. */
  say(entry: Entry): void;
  /** Ms by a clock that all processes share and no fault moves. */
  now(): number;
  isOver(): boolean;
  /** Nothing new is added from now on. */
  isEnding(): boolean;
  /** The number of the process, 0 or above. Number 0 also adds messages. */
  readonly process: number;
  /** The address of the service that circuits protect. */
  readonly service: string;
}

type Contender = (stage: Stage) => Promise<void>;

export const LIMIT = 40;
export const SPAN_MS = 1000;
const LEASE_MS = 1000;
const MESSAGES_A_TURN = 4;
const STEP_MS = 25;
const STEPS = 8;

export const CONTENDERS: Readonly<Record<string, Readonly<Record<string, Contender>>>> = {
  limit: {
    oriel: async (stage) => {
      const limiter = new Limiter(redisStore(stage.url), [slidingWindow({ limit: LIMIT, span: SPAN_MS })], {
        name: "api",
      });
      await limited(stage, async () => (await limiter.take("ada")).allowed);
    },
    // https://github.com/animir/node-rate-limiter-flexible/wiki/Redis: without an offline queue
    "rate-limiter-flexible": async (stage) => {
      const { RateLimiterRedis, RateLimiterRes } = await packageOf<Flexible>("rate-limiter-flexible");
      const storeClient = new Redis(stage.url, { enableOfflineQueue: false });
      storeClient.on("error", () => {});
      const limiter = new RateLimiterRedis({ storeClient, points: LIMIT, duration: SPAN_MS / 1000, keyPrefix: "api" });
      const consume = () =>
        limiter.consume("ada").then(
          () => true,
          (denied) => {
            if (denied instanceof RateLimiterRes) return false;
            throw denied;
          },
        );
      await limited(stage, consume);
    },
    // https://github.com/express-rate-limit/rate-limit-redis
    "express-rate-limit": async (stage) => {
      const { default: express } = await packageOf<ExpressPackage>("express");
      const { rateLimit } = await packageOf<{ rateLimit(options: object): unknown }>("express-rate-limit");
      const { RedisStore } = await packageOf<{ RedisStore: new (options: object) => unknown }>("rate-limit-redis");
      const client = new Redis(stage.url);
      client.on("error", () => {});
      const sendCommand = (command: string, ...args: string[]) => client.call(command, ...args) as Promise<never>;
      const app = express().set("env", "test"); // prints no errors
      app.use(rateLimit({ windowMs: SPAN_MS, limit: LIMIT, store: new RedisStore({ sendCommand }) }));
      app.get("/", (_request, response) => void response.send("through"));
      const server = app.listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      await limited(stage, async () => {
        const { status } = await fetch(url);
        if (status !== 200 && status !== 429) throw new Error(`status ${status}`);
        return status === 200;
      });
    },
  },
  queue: {
    oriel: async (stage) => {
      const store = redisStore(stage.url);
      store.on("error", () => {});
      const queue = new DelayQueue<string>(store, "mail", { attempts: 20, backoff: 100 });
      const worker = queue.process(({ payload }) => handled(stage, payload), { concurrency: 4, visibility: LEASE_MS });
      worker.on("error", () => {});
      // `add` with an id may be repeated after any failure.
      await adding(stage, (id, delay) => queue.add(id, { id, delay }));
    },
    // https://docs.bullmq.io/guide/workers/stalled-jobs and /guide/going-to-production: no bound of retries for workers
    bullmq: async (stage) => {
      const { Queue, Worker } = await packageOf<Bull>("bullmq");
      const connection = () => {
        const client = new Redis(stage.url, { maxRetriesPerRequest: null });
        client.on("error", () => {});
        return client;
      };
      const queue = new Queue("mail", { connection: connection() });
      const times = { lockDuration: LEASE_MS, stalledInterval: LEASE_MS, maxStalledCount: 20 };
      const worker = new Worker("mail", ({ data }) => handled(stage, data), {
        ...{ connection: connection(), concurrency: 4 },
        ...times,
      });
      for (const emitter of [queue, worker]) emitter.on("error", () => {});
      const attempts = { attempts: 20, backoff: { type: "fixed", delay: 100 } };
      await adding(stage, (jobId, delay) => queue.add("mail", jobId, { jobId, delay, ...attempts }));
    },
  },
  lock: {
    oriel: async (stage) => {
      const lock = new Lock(redisStore(stage.url), "import", { watchdogLease: LEASE_MS });
      await locking(stage, (work) =>
        lock.withLock(({ signal, fence }) => work(() => signal.aborted, fence), { wait: "5s" }),
      );
    },
    // https://github.com/mike-marcacci/node-redlock#usage: `using` extends the lock, and its signal aborts
    redlock: async (stage) => {
      const { default: Redlock } = await packageOf<{ default: new (clients: Redis[]) => Using }>("redlock");
      const client = new Redis(stage.url);
      client.on("error", () => {});
      const redlock = new Redlock([client]);
      redlock.on("error", () => {});
      await locking(stage, (work) => redlock.using(["import"], LEASE_MS, (signal) => work(() => signal.aborted, null)));
    },
    // https://github.com/swarthy/redis-semaphore: a lost lock is reported to `onLockLost`
    "redis-semaphore": async (stage) => {
      const { Mutex } = await import("redis-semaphore");
      const client = new Redis(stage.url);
      client.on("error", () => {});
      await locking(stage, async (work) => {
        let isLost = false;
        const onLockLost = () => {
          isLost = true;
        };
        const mutex = new Mutex(client, "import", { lockTimeout: LEASE_MS, acquireTimeout: 5000, onLockLost });
        await mutex.acquire();
        try {
          await work(() => isLost, null);
        } finally {
          await mutex.release();
        }
      });
    },
  },
  circuit: {
    oriel: async (stage) => {
      const store = redisStore(stage.url);
      const settings = { name: "pay", span: "5s", failureRatio: 0.5, minimumCalls: 5, cooldown: "2s" } as const;
      const breaker = new Breaker(store, settings);
      await calling(stage, (call) => breaker.run(call));
    },
    // https://github.com/nodeshift/opossum#readme, with the same numbers
    opossum: async (stage) => {
      const { default: CircuitBreaker } = await packageOf<Opossum>("opossum");
      const settings = {
        errorThresholdPercentage: 50,
        volumeThreshold: 5,
        rollingCountTimeout: 5000,
        resetTimeout: 2000,
      };
      const breaker = new CircuitBreaker((call: () => Promise<void>) => call(), settings);
      await calling(stage, (call) => breaker.fire(call));
    },
  },
};

/** The packages are installed for benches only, so their types may be missing. */
async function packageOf<Package>(name: string): Promise<Package> {
  return (await import(name)) as Package;
}

interface Flexible {
  RateLimiterRedis: new (options: object) => { consume(id: string): Promise<unknown> };
  RateLimiterRes: new () => object;
}

interface ExpressPackage {
  default(): {
    set(name: string, value: string): ReturnType<ExpressPackage["default"]>;
    use(middleware: unknown): void;
    get(path: string, handler: (request: unknown, response: { send(text: string): void }) => void): void;
    listen(port: number, host: string): import("node:http").Server;
  };
}

interface Bull {
  Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: string, options: object): Promise<unknown>;
    on(event: "error", listener: () => void): void;
  };
  Worker: new (
    name: string,
    handler: (job: { data: string }) => Promise<void>,
    options: object,
  ) => { on(event: "error", listener: () => void): void };
}

interface Opossum {
  default: new (
    action: (call: () => Promise<void>) => Promise<void>,
    options: object,
  ) => { fire(call: () => Promise<void>): Promise<unknown> };
}

interface Using {
  using<T>(names: string[], ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  on(event: "error", listener: () => void): void;
}

/** Four callers, more than the limit lets through. */
async function limited({ say, now, isOver }: Stage, take: () => Promise<boolean>): Promise<void> {
  const call = async () => {
    while (!isOver()) {
      const fromMs = now();
      const isAllowed = await take().catch(() => undefined);
      if (isAllowed) say({ kind: "admitted", fromMs, toMs: now() });
      else await sleep(5);
    }
  };
  await Promise.all([call(), call(), call(), call()]);
}

/** A handler that takes a while, so that faults meet it. */
async function handled({ say, now }: Stage, id: string): Promise<void> {
  say({ kind: "begun", id, atMs: now() });
  await sleep(STEP_MS);
  say({ kind: "handled", id, atMs: now() });
}

async function adding(
  { say, now, isOver, isEnding, process: own }: Stage,
  add: (id: string, delayMs: number) => Promise<unknown>,
) {
  const born = Math.floor(now());
  for (let turn = 0; own === 0 && !isEnding(); turn++) {
    const added = Array.from({ length: MESSAGES_A_TURN }, async (_, i) => {
      const id = `m-${born}-${turn}-${i}`;
      const delayMs = 100 + ((turn * 137 + i * 411) % 900);
      for (;;) {
        const fromMs = now();
        const isAdded = await add(id, delayMs).then(
          () => true,
          () => false,
        );
        if (isAdded) return say({ kind: "added", id, dueMs: fromMs + delayMs });
        await sleep(50);
        if (isOver()) return;
      }
    });
    await Promise.all(added);
    await sleep(STEP_MS);
  }
  while (!isOver()) await sleep(STEP_MS);
}

type Work = (isLost: () => boolean, fence: number | null) => Promise<void>;

/** Holders write some times, and look before each write whether the lock is lost. */
async function locking({ say, now, isOver, process: own }: Stage, withLock: (work: Work) => Promise<unknown>) {
  for (let turn = 0; !isOver(); turn++) {
    const hold = `${own}-${process.pid}-${turn}`;
    const work: Work = async (isLost, fence) => {
      say({ kind: "entered", hold, atMs: now() });
      for (let step = 0; step < STEPS; step++) {
        await sleep(STEP_MS);
        if (isLost()) return;
        say({ kind: "wrote", hold, atMs: now(), fence });
      }
    };
    await withLock(work).catch(() => sleep(20));
  }
}

/** A service that answers 503 to all. */
async function calling(
  { service, isOver }: Stage,
  run: (call: () => Promise<void>) => Promise<unknown>,
): Promise<void> {
  while (!isOver()) {
    const call = async () => {
      const { status } = await fetch(service);
      if (status >= 500) throw new OrielError("UNAVAILABLE", `status ${status}`);
    };
    await run(call).catch(() => {});
    await sleep(10);
  }
}
