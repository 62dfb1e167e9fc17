import { setTimeout as pause } from "node:timers/promises";
import { deferred } from "../../src/base/async/deferred.ts";
import { within } from "../../src/base/async/within.ts";
import {
  Breaker,
  Counters,
  fixedWindow,
  Limiter,
  Lock,
  LockedWindow,
  Series,
  slidingWindow,
} from "../../src/entries/index.ts";
import type { WatchedStore } from "../../src/store/contract.ts";
import { optionsOf } from "../matrix/structures.ts";
import type { Random } from "../simulator/world/random.ts";
import { answered, Books } from "./books.ts";
import type { ServerClock } from "./clocks.ts";

/** One structure in a storm. Its two processes act at random, and at the end its books are compared with the store. */
export interface Actor {
  act(): Promise<unknown>;
  settle(): Promise<unknown>;
  readonly violations: readonly string[];
}

export interface Part {
  /** Of two processes. */
  stores: readonly WatchedStore[];
  random: Random;
  modes: object;
  clock: ServerClock;
}

export function seriesActor({ stores, random, modes }: Part): Actor {
  const books = new Books("series");
  const options = { retention: "10m", ...modes, values: "float64" } as const;
  const series = stores.map((store) => new Series(store, "s", options));
  let drawn = 0;
  let givenUp = 0;
  for (const store of stores) store.on("error", ({ count }) => (givenUp += count));
  return {
    violations: books.violations,
    async act() {
      const one = random.pick(series);
      const value = ++drawn;
      const isAsking = random.chance(0.3);
      await books.call<unknown>(value, isAsking ? one.recordAndGet(value) : one.record(value));
    },
    async settle() {
      const cold = new Series(stores[0]!, "s", { ...options, onStoreError: "throw" });
      // Processes send their kept events in the background.
      const areKeptOnly = (missing: number[]) =>
        missing.length > givenUp && missing.every((key) => books.kept.has(key));
      for (let i = 0; i < 100 && areKeptOnly(books.missing(await answered(() => cold.values()))); i++) await pause(50);
      for (const each of series) await each.close();
      books.settle([...(await answered(() => cold.values()))], givenUp);
    },
  };
}

export function lockedWindowActor({ stores, random, modes }: Part): Actor {
  const books = new Books("locked window");
  const windows = stores.map((store) => new LockedWindow(store, "w", { span: "10m", wait: "1s", ...modes }));
  let drawn = 0;
  return {
    violations: books.violations,
    act: () => books.call(++drawn, random.pick(windows).addAndGetStats(1)),
    settle: async () => books.settleCount((await answered(() => windows[0]!.stats())).count),
  };
}

export function countersActor({ stores, random, modes }: Part): Actor {
  const books = new Books<string>("counters");
  const counters = stores.map((store) => new Counters(store, "c", { dimensions: ["id"], ...modes }));
  let drawn = 0;
  return {
    violations: books.violations,
    act() {
      const id = `n${++drawn}`;
      return books.call(id, random.pick(counters).add({ id }));
    },
    async settle() {
      const rows = await answered(() => counters[0]!.read({ bucket: "day" }));
      books.settle(rows.flatMap(({ values, count }) => Array.from({ length: Number(count) }, () => values.id)));
    },
  };
}

export function limiterActor({ stores, random, modes }: Part): Actor {
  const LIMIT = 40;
  const books = new Books("limiter");
  const policy = random.pick([fixedWindow, slidingWindow])({ limit: LIMIT, span: "1h" });
  const limiters = stores.map(
    (store) => new Limiter(store, [policy], { name: "l", ...optionsOf("limiter", { ...modes }) }),
  );
  let drawn = 0;
  let allowed = 0;
  let unsure = 0;
  return {
    violations: books.violations,
    async act() {
      const key = ++drawn;
      const requestId = random.chance(0.5) ? { requestId: `r${key}` } : {};
      const decision = await books.call(key, random.pick(limiters).take("id", requestId));
      if (decision?.degraded || books.unknown.has(key)) unsure++;
      else if (decision?.allowed && ++allowed > LIMIT) books.wrong(`${allowed} were let pass by a limit of ${LIMIT}`);
    },
    async settle() {
      const strict = new Limiter(stores[0]!, [policy], { name: "l" });
      const used = LIMIT - (await answered(() => strict.peek("id"))).remaining;
      if (used < Math.min(allowed, LIMIT) || used > Math.min(allowed + unsure, LIMIT))
        books.wrong(`${used} are taken; ${allowed} were allowed, of ${unsure} nobody knows`);
    },
  };
}

export function lockActor({ stores, random, modes, clock }: Part): Actor {
  const LEASE_MS = 500;
  const books = new Books("lock");
  const locks = stores.map((store) => new Lock(store, "l", modes));
  const fences = new Set<number>();
  let drawn = 0;
  let last = 0;
  let holder: { leftMs: number } | undefined;
  const hold = (lock: Lock) => {
    const lastBefore = last;
    return lock.withLock(
      async (held) => {
        // A server whose clock was set forward ends leases that their holders still trust. Then two may get their holds at
        // once, in any order. Calls that begin later get higher fences all the same.
        if (!clock.isStepped && holder && holder.leftMs > 0 && held.leftMs > 0) books.wrong("two hold it at once");
        const lower = clock.isStepped ? lastBefore : last;
        if (held.fence <= lower) books.wrong(`fence ${held.fence} after ${lower}`);
        if (fences.has(held.fence)) books.wrong(`fence ${held.fence} twice`);
        fences.add(held.fence);
        [holder, last] = [held, Math.max(last, held.fence)];
        await pause(random.int(0, 10));
        if (holder === held) holder = undefined;
      },
      { wait: 200, lease: LEASE_MS },
    );
  };
  return {
    violations: books.violations,
    // All at once, so that some find it held, and several of one process wait.
    act: () => Promise.all([...locks, ...locks].map((lock) => random.chance(0.7) && books.call(++drawn, hold(lock)))),
    async settle() {
      const { leftMs } = await answered(() => locks[0]!.inspect());
      if (leftMs > LEASE_MS) books.wrong(`it stays held for ${leftMs} ms`);
      else await answered(() => locks[0]!.withLock(() => {}, { wait: "3s" }));
    },
  };
}

export function breakerActor({ stores, random }: Part): Actor {
  const COOLDOWN_MS = 50;
  const books = new Books("breaker");
  const options = { span: "1s", failures: 5, cooldown: COOLDOWN_MS, flush: 5 } as const;
  const breakers = stores.map((store) => new Breaker(store, { ...options, name: "b" }));
  const codeOf = (error: Error & { code?: string }) => error.code ?? error.message;
  return {
    violations: books.violations,
    async act() {
      const isBad = random.chance(0.2);
      const run = () => (isBad ? Promise.reject(new RangeError("bad")) : Promise.resolve("good"));
      const ended = await random.pick(breakers).run(run).catch(codeOf);
      if (ended !== "OPEN" && ended !== (isBad ? "bad" : "good")) books.wrong(`a call ended with ${ended}`);
    },
    /** A circuit of two processes that opens, and lets one probe through. */
    async settle() {
      const calm = stores.map((store) => new Breaker(store, { ...options, name: "calm" }));
      // A process that a busy machine keeps from the store decides alone, with probes of its own.
      let isAlone = false;
      for (const breaker of calm)
        breaker.on("error", () => {
          isAlone = true;
        });
      const bad = () => Promise.reject(new RangeError("bad"));
      const flushAll = () => Promise.all(calm.map((breaker) => answered(() => breaker.flush())));
      for (let i = 0; i < 100 && calm.some((breaker) => breaker.stats().state !== "open"); i++) {
        await Promise.all(calm.map((breaker) => breaker.run(bad).catch(codeOf)));
        await flushAll();
      }
      await pause(2 * COOLDOWN_MS);
      // The probe ends when all other calls were rejected: a call that is slow to begin must not find the circuit closed.
      let began = 0;
      let rejected = 0;
      const callers = [...calm, ...calm];
      const others = deferred();
      const probe = () => {
        began++;
        return within(others.promise, 2000);
      };
      const ended = callers.map(async (breaker) => {
        if ((await breaker.run(probe).catch(codeOf)) === "OPEN" && ++rejected === callers.length - 1) others.resolve();
      });
      await Promise.all(ended);
      if (began !== 1 && !isAlone) books.wrong(`${began} probes began where one may`);
    },
  };
}
