import { Lock, MultiSemaphore, ReadWriteLock, Semaphore } from "../../src/entries/index.ts";
import { permitsInUse } from "../../src/holds/semaphore/permit-calls.ts";
import { expectEqual } from "./expect-equal.ts";
import type { Driven, Subject } from "./subject.ts";

/** Long enough for a process that waits to stand in the queue. */
const QUEUED_MS = 100;

const queued = () => new Promise((resolve) => setTimeout(resolve, QUEUED_MS));

export const lock: Subject = {
  name: "lock",
  called: /lock/i,
  drives: ["Lock"],
  keys: [/^oriel:\{NAME\}:lock$/],
  open(store, key): Driven {
    const own = new Lock(store, key);
    const left = new AbortController();
    return {
      reported: [],
      async seed() {
        await own.tryLock({ lease: "10m" });
        new Lock(store, key).tryLock({ wait: "1m", signal: left.signal }).catch(() => {});
        await queued();
      },
      asks: {
        tryLock: async () => (await own.tryLock())?.release(),
        "tryLock and wait": async () => (await own.tryLock({ wait: 50, lease: "1s" }))?.release(),
        extend: async () => {
          const held = await own.tryLock({ lease: "1s" });
          await held?.extend("2s");
          await held?.release();
        },
        withLock: () => own.withLock(() => 1, { wait: 50 }),
        isHeld: () => own.isHeld(),
        inspect: () => own.inspect(),
        forceRelease: () => own.forceRelease(),
      },
      async check() {
        const free = new Lock(store, `${key}free`);
        const held = await free.tryLock();
        expectEqual("lock: extended", await held!.extend("1m"), true);
        expectEqual("lock: held twice", await new Lock(store, `${key}free`).tryLock(), null);
        expectEqual("lock: released", await held!.release(), true);
      },
      close: async () => left.abort(),
    };
  },
};

export const readWriteLock: Subject = {
  name: "read-write lock",
  called: /lock/i,
  drives: ["ReadWriteLock"],
  keys: [/^oriel:\{NAME\}:read-write$/],
  open(store, key): Driven {
    const own = new ReadWriteLock(store, key);
    const left = new AbortController();
    return {
      reported: [],
      async seed() {
        await own.read.tryLock({ lease: "10m" });
        // Two writers wait for the reader.
        for (let i = 0; i < 2; i++) {
          new ReadWriteLock(store, key).write.tryLock({ wait: "1m", signal: left.signal }).catch(() => {});
          await queued();
        }
      },
      asks: {
        "read.tryLock": async () => {
          const held = await own.read.tryLock({ lease: "1s" });
          await held?.extend("2s");
          await held?.release();
        },
        "read.tryLock and wait": async () => (await own.read.tryLock({ wait: 50, lease: "1s" }))?.release(),
        "write.tryLock": async () => (await own.write.tryLock())?.release(),
        "write.tryLock and wait": async () => (await own.write.tryLock({ wait: 50, lease: "1s" }))?.release(),
        "read.withLock": () => own.read.withLock(() => 1, { wait: 50 }),
      },
      async check() {
        const free = () => new ReadWriteLock(store, `${key}free`);
        const [one, two] = [await free().read.tryLock(), await free().read.tryLock()];
        expectEqual("read-write lock: extended", await one!.extend("1m"), true);
        expectEqual("read-write lock: written while read", await free().write.tryLock(), null);
        expectEqual("read-write lock: released", [await one!.release(), await two!.release()], [true, true]);
        const alone = await free().write.tryLock();
        expectEqual("read-write lock: read while written", await free().read.tryLock(), null);
        expectEqual("read-write lock: released by the writer", await alone!.release(), true);
      },
      close: async () => left.abort(),
    };
  },
};

export const semaphore: Subject = {
  name: "semaphore",
  called: /Semaphore/,
  drives: ["Semaphore", "MultiSemaphore"],
  keys: [/^oriel:\{NAME\}:semaphore$/],
  open(store, key): Driven {
    const own = new Semaphore(store, key, { limit: 10_000 });
    const several = new MultiSemaphore(store, key, { limit: 10_000 });
    return {
      reported: [],
      async seed() {
        await own.acquire({ lease: "10m" });
        await several.acquire(3, { lease: "20m" });
      },
      asks: {
        tryAcquire: async () => (await own.tryAcquire())?.release(),
        "tryAcquire of several": async () => {
          const permit = await several.tryAcquire(2, { lease: "1s" });
          await permit?.extend("2s");
          await permit?.release();
        },
        // A machine that is slower than the lease would be refused.
        "acquire and wait": async () => (await own.acquire({ wait: 50, lease: "1m" })).release(),
        withPermits: () => several.withPermits(8, () => 1, { wait: 50 }),
        "permits in use": () => permitsInUse(store, key),
      },
      async check() {
        const free = new MultiSemaphore(store, `${key}free`, { limit: 3 });
        const held = (await free.tryAcquire(2))!;
        expectEqual("semaphore: too many", await free.tryAcquire(2), null);
        expectEqual("semaphore: extended", await held.extend("1m"), true);
        expectEqual("semaphore: released", await held.release(), true);
      },
      close: async () => {},
    };
  },
};
