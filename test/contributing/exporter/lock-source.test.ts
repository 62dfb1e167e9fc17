import { expect, test } from "vitest";
import { Lock, memoryStore, prometheusText } from "../../../src/entries/index.ts";
import { lockSource } from "./lock-source.ts";

test("counts calls of a lock by outcome, and adds up their time", async () => {
  const lock = new Lock(memoryStore(), "deploy");
  const source = lockSource(lock);
  const held = await lock.tryLock();
  expect(await lock.tryLock()).toBeNull();
  await expect(lock.tryLock({ wait: -1 })).rejects.toMatchObject({ code: "ARGUMENT" });
  await held?.release();
  const text = await prometheusText(source);
  for (const outcome of ["acquired", "busy", "failed"]) {
    expect(text).toContain(`oriel_lock_calls_total{name="deploy",outcome="${outcome}"} 1\n`);
    expect(text).toMatch(new RegExp(`oriel_lock_wait_seconds_total{name="deploy",outcome="${outcome}"} 0\\.\\d+\n`));
  }
});

test("a source requires a lock", () => {
  expect(() => lockSource({} as never)).toThrow("lockSource: lock is an object; it must be a Lock");
});
