import { init } from "../../../src/engine/kernel/init.ts";
import {
  Breaker,
  Counters,
  Limiter,
  LocalSeries,
  Lock,
  LockedWindow,
  memoryStore,
  type OrielErrorCode,
  redisStore,
  Series,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { Semaphore } from "../../../src/entries/structures/semaphore.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";

/** Some moment in 2023, so that messages with a time are always the same. */
const NOW_MS = 1_700_000_000_000;
const store = memoryStore({ clock: () => NOW_MS });
/** Its clock advances, for calls that wait. */
const live = memoryStore();

/** For each code, the shortest program that meets it. `url` is a Redis. */
export const EXAMPLES: Record<OrielErrorCode, (url: string) => unknown> = {
  ARGUMENT: () => new Limiter(store, [slidingWindow({ limit: -1, span: "1m" })], { name: "api" }),
  MISMATCH: async () => {
    await new Series(store, "api:latency").record(12.5);
    await new Series(store, "api:latency", { values: "float64" }).record(12.5);
  },
  LATE: () => new Series(store, "api:latency", { retention: "1h" }).record(12.5, { at: NOW_MS / 1000 }),
  EARLY: () => new Series(store, "api:latency", { retention: "1h" }).record(12.5, { at: NOW_MS + 120_000 }),
  OVERLOADED: () => {
    const latency = new LocalSeries({ retention: "1h", maxBytes: 1024, clock: () => NOW_MS });
    for (let i = 0; i < 1000; i++) latency.record(i);
  },
  TOO_LARGE: async () => {
    const latency = new Series(store, "api:sizes", { maxResidentBytes: 65_536 });
    await latency.recordMany(Array.from({ length: 20_000 }, (_, i) => i));
    await latency.stats({ span: "1m" });
  },
  CORRUPT: async (url) => {
    const program = new RespConnection(url);
    await program.send([["SET", "oriel:{api:latency}", JSON.stringify(Array(40).fill("hello"))]]);
    program.close();
    const other = redisStore(url);
    try {
      await new Series(other, "api:latency").record(12.5);
    } finally {
      await other.close();
    }
  },
  DEADLINE: async () => {
    const renders = new Semaphore(live, "renders", { limit: 1 });
    await renders.acquire();
    await renders.acquire({ wait: 10 });
  },
  UNAVAILABLE: async () => {
    const other = redisStore("redis://127.0.0.1:1", { deadline: 1000 });
    try {
      await new Series(other, "api:latency").record(12.5);
    } finally {
      await other.close();
    }
  },
  LOST: async () => {
    const lock = new Lock(live, "nightly");
    const held = await lock.tryLock();
    await lock.forceRelease();
    await held!.extend("1m");
    held!.signal.throwIfAborted();
  },
  STALE: async () => {
    // Two programs that share a window, each with a lock of its own. Fences of a store that stands still count the holds.
    const windowOf = (lock: string) => new LockedWindow(store, "frames", { span: "1m", lock: new Lock(store, lock) });
    await windowOf("a").addAndGetStats(1);
    await windowOf("a").addAndGetStats(1);
    await windowOf("b").addAndGetStats(1);
  },
  DIVERGED: async () => {
    const flow = new Counters(store, "flow", { dimensions: ["site"], shards: 1 });
    await flow.add({ site: "S1" });
    // The table has three generations of a store that was flushed since.
    const ledger = [{ shard: 0, generation: 3, nonce: "x", fence: 1, events: 12n }];
    await flow.read({ bucket: "day", table: { read: async () => ({ ledger, rows: [] }) } });
  },
  OPEN: async () => {
    const breaker = new Breaker("local", { name: "payments", span: "10s", failures: 3 });
    await breaker.open();
    await breaker.run(async () => 1);
  },
  KERNEL: () => init(new Uint8Array(8)),
};
