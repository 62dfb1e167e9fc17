import { expect, onTestFinished, test, vi } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { heldBytes } from "../harness/heap.ts";

const NAMES = 20_000;
/** A remembered name has about a kilobyte. */
const MAX_BYTES = 5 * 2 ** 20;

test("names that were used once are forgotten, also while callers wait for others all the time", async () => {
  // A waiter would look again after some seconds, and find that the holds were cleared.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = memoryStore();
  const abort = new AbortController();
  const held = [];
  const waits = [];
  for (let i = 0; i < 20; i++) {
    const lock = new Lock(store, `long ${i}`);
    held.push(await lock.tryLock({ lease: "1d" }));
    waits.push(lock.tryLock({ wait: "1d", lease: "1d", signal: abort.signal }).catch((reason) => reason));
  }
  const use = async (name: string) => (await new Lock(store, name).tryLock({ lease: "1d" }))!.release();
  /** Names one after another, and many at once. */
  const useAll = async (count: number) => {
    for (let i = 0; i < count; i++) await use(`once ${i}`);
    await Promise.all(Array.from({ length: count }, (_, i) => use(`at once ${i}`)));
    store.clear();
  };
  await useAll(2000);
  const before = await heldBytes();
  await useAll(NAMES);
  expect((await heldBytes()) - before).toBeLessThan(MAX_BYTES);
  abort.abort("over");
  expect(await Promise.all(waits)).toEqual(waits.map(() => "over"));
  expect(held).not.toContain(null);
});
