import { setAside } from "../../src/counter/steps/set-aside.ts";
import { Lock, ReadWriteLock, Series } from "../../src/entries/index.ts";
import { serverStats, serverStatsFar } from "../../src/journal/steps/server-stats.ts";
import type { Store } from "../../src/store/contract.ts";

/** Runs the steps that calls on undamaged keys do not run, and returns what they answer. */
export async function rareSteps(store: Store, name: string): Promise<Record<string, unknown>> {
  return {
    ...(await readWriteLock(store, name)),
    ...(await operatorSteps(store, name)),
    ...(await farWindow(store, name)),
  };
}

async function readWriteLock(store: Store, name: string) {
  const lock = new ReadWriteLock(store, name);
  const readers = [await lock.read.tryLock(), await lock.read.tryLock()];
  const shut = await lock.write.tryLock();
  const extended = await readers[0]!.extend("1m");
  const released = [await readers[0]!.release(), await readers[1]!.release()];
  const writer = await lock.write.tryLock();
  const fences = [...readers, writer].map((held) => held!.fence);
  const isAscending = fences.every((fence, i) => i === 0 || fence > fences[i - 1]!);
  return { isAscending, shut, extended, released, isWriterReleased: await writer!.release() };
}

async function operatorSteps(store: Store, name: string) {
  const lock = new Lock(store, name);
  const held = await lock.tryLock({ lease: "1m" });
  const { fence } = await lock.inspect();
  const forced = await lock.forceRelease({ fence: held!.fence });
  const isHeld = await lock.isHeld();
  const key = store.keyOf(`${name} shard`);
  const isAside = await store.run(setAside, key, { aside: `${key}:aside`, seen: "hash - -" });
  return { isSeen: fence === held!.fence, forced, isHeld, isAside };
}

/** A window whose chunks are found by their numbers. */
async function farWindow(store: Store, name: string) {
  const series = new Series(store, name, { retention: "1m", values: "float64" });
  await series.recordMany([1, 2, 3, 4]);
  const window = { closed: "both", spanMs: 60_000, atMs: undefined, newest: undefined } as const;
  const input = { ...window, valueType: 1, clock: 0, percentiles: [50, 99] };
  const ask = (step: typeof serverStats) => store.run(step, store.keyOf(name), input);
  const [near, far] = await Promise.all([ask(serverStats), ask(serverStatsFar)]);
  await series.close();
  return { near: near.moments, far: far.moments };
}
