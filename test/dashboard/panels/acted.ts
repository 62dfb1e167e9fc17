import { expect } from "vitest";
import {
  Breaker,
  Counters,
  CountersDoctor,
  DelayQueue,
  DrainService,
  Limiter,
  Lock,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { DashboardOptions } from "../../../src/operate/dashboard/options.ts";
import type { WatchedStore } from "../../../src/store/contract.ts";
import { TableSink } from "../../fuzz/table-sink.ts";
import { atEnd } from "../../harness/ends.ts";

/** An action of a kind, on a structure in which it has an effect. */
interface Acted {
  readonly kind: string;
  readonly action: string;
  readonly make: (store: WatchedStore, name: string) => Promise<Made>;
  /** The answers of `effect` before and after the action. */
  readonly before: unknown;
  readonly after: unknown;
}

interface Made {
  readonly target: string;
  /** Asks the structure itself. */
  readonly effect: () => Promise<unknown>;
  readonly sinks?: NonNullable<DashboardOptions["sinks"]>;
}

export const ACTED: readonly Acted[] = [
  {
    ...{ kind: "Limiter", action: "reset", before: false, after: true },
    async make(store, name) {
      const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: "1h" })], { name });
      await limiter.take("user");
      return { target: "user", effect: async () => (await limiter.peek("user")).allowed };
    },
  },
  {
    ...{ kind: "Limiter", action: "block", before: true, after: false },
    async make(store, name) {
      const limiter = new Limiter(store, [slidingWindow({ limit: 9, span: "1h" })], { name });
      await limiter.take("user");
      return { target: "user", effect: async () => (await limiter.peek("user")).allowed };
    },
  },
  {
    ...{ kind: "DelayQueue", action: "redrive", before: { dead: 3, due: 0 }, after: { dead: 2, due: 1 } },
    make: async (store, name) => ({ target: "dead 1", effect: await deadLetters(store, name) }),
  },
  {
    ...{ kind: "DelayQueue", action: "redriveAll", before: { dead: 3, due: 0 }, after: { dead: 0, due: 3 } },
    make: async (store, name) => ({ target: "", effect: await deadLetters(store, name) }),
  },
  {
    ...{ kind: "DelayQueue", action: "cancel", before: { dead: 3, due: 0 }, after: { dead: 2, due: 0 } },
    make: async (store, name) => ({ target: "dead 2", effect: await deadLetters(store, name) }),
  },
  {
    ...{ kind: "DelayQueue", action: "pause", before: false, after: true },
    make: async (store, name) => ({ target: "", effect: await pausing(store, name, false) }),
  },
  {
    ...{ kind: "DelayQueue", action: "resume", before: true, after: false },
    make: async (store, name) => ({ target: "", effect: await pausing(store, name, true) }),
  },
  {
    ...{ kind: "Breaker", action: "open", before: "closed", after: "open" },
    make: async (store, name) => ({ target: "", effect: circuit(store, name).effect }),
  },
  {
    ...{ kind: "Breaker", action: "close", before: "open", after: "closed" },
    async make(store, name) {
      const { breaker, effect } = circuit(store, name);
      await breaker.open();
      return { target: "", effect };
    },
  },
  {
    ...{ kind: "Breaker", action: "reset", before: "open", after: "closed" },
    async make(store, name) {
      const { breaker, effect } = circuit(store, name);
      await breaker.open({ for: "1h" });
      return { target: "", effect };
    },
  },
  {
    ...{ kind: "Lock", action: "release", before: true, after: false },
    async make(store, name) {
      const held = await new Lock(store, name).tryLock({ lease: "10m" });
      return { target: String(held!.fence), effect: () => new Lock(store, name).isHeld() };
    },
  },
  {
    ...{ kind: "Counters", action: "rebase", before: 1, after: 0 },
    async make(store, name) {
      const sink = new TableSink();
      const counters = new Counters(store, name, { dimensions: ["page"], shards: 1 });
      atEnd(() => counters.close());
      await counters.add({ page: "p" });
      await new DrainService({ counters, sink }).drainOnce();
      await counters.add({ page: "p" });
      // The table goes on without the store, as after a restore of an old snapshot of Redis.
      const batch = { shard: 0, generation: 2, nonce: "another", fence: 0, events: 1n, rows: [] };
      expect(await sink.apply(counters.shape, batch)).toEqual({ status: "applied" });
      const doctor = new CountersDoctor(counters, sink);
      const effect = async () => (await doctor.diagnose()).filter(({ verdict }) => verdict !== "fits").length;
      return { target: "keep", sinks: { [name]: sink }, effect };
    },
  },
];

/** Three dead messages. */
async function deadLetters(store: WatchedStore, name: string): Promise<() => Promise<unknown>> {
  const queue = new DelayQueue(store, name, { attempts: 1 });
  for (let i = 0; i < 3; i++) await queue.add(i, { id: `dead ${i}` });
  for (const each of await queue.claim({ limit: 3 })) await queue.nack(each);
  return async () => {
    const { dead, due } = await queue.counts();
    return { dead, due };
  };
}

async function pausing(store: WatchedStore, name: string, isPaused: boolean): Promise<() => Promise<unknown>> {
  const queue = new DelayQueue(store, name);
  if (isPaused) await queue.pause();
  return async () => (await queue.counts()).isPaused;
}

function circuit(store: WatchedStore, name: string) {
  const breaker = new Breaker(store, { name, span: "10s", failures: 3 });
  const effect = async () => {
    await breaker.flush();
    return breaker.stats().state;
  };
  return { breaker, effect };
}
